/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/test.h"

#include "model/session/fields.h"

#include <string.h>

enum colour { COLOUR_NONE, COLOUR_RED, COLOUR_OTHER };
static const char *const colour_words[] = { "none", "red", "other", NULL };

struct wheel {
	char *name;
	int64_t size;
};

struct car {
	char *plate;
	struct strvec drivers;
	bool sold;
	int doors;
	enum colour colour;
	uint64_t serial;
	int64_t built_at;
	struct wheel spare;
	struct wheel *wheels;
	size_t wheel_count;
	struct car *trailer;
	struct json_object *unknown;
};

static const struct field wheel_members[] = {
	FIELD(struct wheel, name, "name", .identifies = true, .decides = true),
	FIELD(struct wheel, size, "size", .max = 30),
};
static const struct fields wheel_fields = FIELDS(struct wheel, wheel_members);

extern const struct fields car_fields;
static const struct field car_members[] = {
	FIELD(struct car, plate, "plate", .needed = true),
	FIELD(struct car, drivers, "drivers"),
	FIELD(struct car, sold, "sold", .always = true),
	FIELD(struct car, doors, "doors"),
	FIELD(struct car, colour, "colour", .words = colour_words, .other = COLOUR_OTHER),
	FIELD(struct car, serial, "serial"),
	FIELD_OF_TIME(struct car, built_at, "built_at"),
	FIELD_OF_STRUCT(struct car, spare, "spare", &wheel_fields),
	FIELD_OF_LIST(struct car, wheels, wheel_count, "wheels", &wheel_fields),
	FIELD_OF_POINTER(struct car, trailer, "trailer", &car_fields),
};
const struct fields car_fields = FIELDS(struct car, car_members,
					.unknown = offsetof(struct car, unknown));

static const char whole[] =
	"{\"plate\":\"A 1\",\"drivers\":[\"ann\",\"bob\"],\"sold\":false,\"doors\":4,\"colour\":\"red\","
	"\"serial\":9223372036854775807,\"built_at\":\"2026-04-14T09:08:01.000Z\","
	"\"spare\":{\"name\":\"s\",\"size\":18,\"worn\":true},"
	"\"wheels\":[{\"name\":\"l\",\"size\":19,\"worn\":1},{\"name\":\"r\",\"worn\":2}],"
	"\"trailer\":{\"plate\":\"T\",\"sold\":true,\"tent\":\"blue\"},\"radio\":[1]}";

static struct json_object *parse(const char *text)
{
	struct json_object *object = json_tokener_parse(text);
	assert_non_null(object);
	return object;
}

static struct car *car_of(const char *text)
{
	struct error err = { 0 };
	cleanup_json struct json_object *object = parse(text);
	struct car *car = fields_parse(object, "it", "", &car_fields, &err);
	if (!car)
		fail_msg("%s", err.message);
	return car;
}

static void assert_written(const struct car *car, const char *text)
{
	cleanup_json struct json_object *is = fields_to_json(&car_fields, car);
	cleanup_json struct json_object *wanted = parse(text);
	if (!json_object_equal(is, wanted))
		fail_msg("%s is not %s", json_print(is), text);
}

static void what_is_read_is_written(void **state UNUSED)
{
	struct car *car = car_of(whole);
	assert_string_equal(car->drivers.items[1], "bob");
	assert_int_equal(car->doors, 4);
	assert_int_equal(car->colour, COLOUR_RED);
	assert_int_equal(car->serial, INT64_MAX);
	assert_int_equal(car->built_at, INT64_C(1776157681000000));
	assert_int_equal(car->wheels[1].size, 0);
	assert_string_equal(car->trailer->plate, "T");
	assert_written(car, whole);
	fields_free(&car_fields, car);
}

static void a_copy_owns_all_it_has(void **state UNUSED)
{
	struct car *car = car_of(whole);
	struct car *copy = fields_duplicate(&car_fields, car);
	car->wheels[0].name[0] = car->trailer->plate[0] = car->drivers.items[0][0] = 'X';
	fields_free(&car_fields, car);
	assert_written(copy, whole);
	fields_clear(&car_fields, copy);
	static const struct car empty;
	assert_memory_equal(copy, &empty, sizeof(empty));
	fields_free(&car_fields, copy);
	assert_null(fields_duplicate(&car_fields, NULL));
	fields_free(&car_fields, NULL);
}

static void an_empty_value_is_the_absence_of_its_key(void **state UNUSED)
{
	struct car *car = car_of(whole);
	strvec_clear(&car->drivers);
	car->doors = 0;
	car->colour = COLOUR_NONE;
	car->serial = 0;
	car->built_at = 0;
	replace_string(&car->spare.name, NULL);
	replace_string(&car->wheels[0].name, "new");
	car->wheels[0].size = car->wheels[1].size = 0;
	fields_free(&car_fields, TAKE_PTR(car->trailer));
	/* Another name is another wheel: what was not known of the first one is gone. */
	assert_written(car, "{\"plate\":\"A 1\",\"sold\":false,"
			    "\"wheels\":[{\"name\":\"new\"},{\"name\":\"r\",\"worn\":2}],"
			    "\"radio\":[1]}");
	fields_free(&car_fields, car);
}

static void a_word_of_another_version_stays(void **state UNUSED)
{
	static const char text[] = "{\"plate\":\"p\",\"sold\":true,\"colour\":\"mauve\"}";
	struct car *car = car_of(text);
	assert_int_equal(car->colour, COLOUR_OTHER);
	assert_written(car, text);
	car->colour = COLOUR_RED;
	assert_written(car, "{\"plate\":\"p\",\"sold\":true,\"colour\":\"red\"}");
	fields_free(&car_fields, car);
}

static void what_is_wrong_is_named(void **state UNUSED)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "[]", "it: is not a JSON object" },
		{ "{}", "it: plate is missing" },
		{ "{\"plate\":\"\"}", "it: plate is empty" },
		{ "{\"plate\":\"p\",\"doors\":2147483648}", "it: doors is out of range" },
		{ "{\"plate\":\"p\",\"spare\":{\"size\":31}}", "it: spare.size is out of range" },
		{ "{\"plate\":\"p\",\"spare\":7}", "it: spare is not an object" },
		{ "{\"plate\":\"p\",\"wheels\":[{\"name\":7}]}",
		  "it: wheels[].name is not a string" },
		{ "{\"plate\":\"p\",\"wheels\":[7]}",
		  "it: wheels holds something that is not an object" },
		{ "{\"plate\":\"p\",\"trailer\":{\"plate\":\"t\",\"trailer\":{}}}",
		  "it: trailer.trailer.plate is missing" },
	};
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		cleanup_error struct error err = { 0 };
		cleanup_json struct json_object *object = parse(bad[i].text);
		assert_null(fields_parse(object, "it", "", &car_fields, &err));
		assert_int_equal(err.code, ERROR_CORRUPT);
		assert_string_equal(err.message, bad[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_is_written),
		cmocka_unit_test(a_copy_owns_all_it_has),
		cmocka_unit_test(an_empty_value_is_the_absence_of_its_key),
		cmocka_unit_test(a_word_of_another_version_stays),
		cmocka_unit_test(what_is_wrong_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
