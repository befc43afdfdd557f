# SPDX-License-Identifier: GPL-3.0-or-later
"""The agents that real-agents can run: what each needs to run against the stub, and which checks
do not apply to it."""

import json


def config(data):
    return json.dumps(data, indent=1) + "\n"


def claude(home, url):
    return {
        "ANTHROPIC_BASE_URL": url, "ANTHROPIC_AUTH_TOKEN": "stub", "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    }, {".claude.json": config({"hasCompletedOnboarding": True,
                                "projects": {home: {"hasTrustDialogAccepted": True}}})}


def codex(home, url):
    trusted = "".join(f'[projects."{home}/{name}"]\ntrust_level = "trusted"\n' for name in ("work", "other"))
    return {"STUB_KEY": "stub"}, {".codex/config.toml": f"""\
model = "stub-model"
model_provider = "stub"
check_for_update_on_startup = false
[model_providers.stub]
name = "stub"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "STUB_KEY"
{trusted}"""}


def gemini(home, url):
    return {"GEMINI_API_KEY": "stub", "GOOGLE_GEMINI_BASE_URL": url}, {".gemini/settings.json": config({
        "general": {"enableAutoUpdate": False, "sessionRetention": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}})}


def opencode(home, url):
    return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}, {
        "work/opencode.json": config({
            "model": "stub/stub-model",
            "provider": {"stub": {"npm": "@ai-sdk/openai-compatible", "name": "Stub",
                                  "options": {"baseURL": url + "/v1", "apiKey": "stub"},
                                  "models": {"stub-model": {"name": "Stub"}}}}})}


def copilot(home, url):
    return {"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": url + "/v1",
            "COPILOT_PROVIDER_API_KEY": "stub", "COPILOT_MODEL": "stub-model"}, {}


def qwen(home, url):
    return {"OPENAI_API_KEY": "stub", "OPENAI_BASE_URL": url + "/v1", "OPENAI_MODEL": "stub-model"}, {
        ".qwen/settings.json": config({"general": {"enableAutoUpdate": False},
                                       "security": {"auth": {"selectedType": "openai"}}})}


def pi(home, url):
    return {"PI_OFFLINE": "1"}, {
        ".pi/agent/models.json": config({"providers": {"stub": {
            "baseUrl": url + "/v1", "api": "openai-completions", "apiKey": "stub",
            "models": [{"id": "stub-model"}]}}}),
        ".pi/agent/settings.json": config({"defaultProvider": "stub", "defaultModel": "stub-model"})}


def cn(home, url):
    return {"CONTINUE_TELEMETRY_ENABLED": "0"}, {".continue/config.yaml": f"""\
name: stub
version: 1.0.0
schema: v1
models:
  - name: stub
    provider: openai
    model: stub-model
    apiBase: {url}/v1
    apiKey: stub
    roles: [chat]
"""}


class Agent:
    """prepare: gives environment and files. clear: the command that starts another conversation.
    dialogs: questions of the first start, and the keys that answer them. not_applicable: check
    to reason. words: the user's own, in which ~ is the home. agent: its name in agentdeck and in
    PATH, if that differs from the name here."""

    def __init__(self, prepare, clear, dialogs=(), not_applicable=(), words=(), agent=None):
        self.prepare, self.clear, self.dialogs, self.words = prepare, clear, dialogs, words
        self.not_applicable, self.agent = dict(not_applicable), agent


NO_IDS = "it takes no ids: it is adopted with --fresh only"
NO_HISTORY = "its conversations do not come back: agentdeck says so"
AGENTS = {
    # The last version for old machines, and the newest one.
    "claude": Agent(claude, "/clear"),
    # A tree of a repository elsewhere is not trusted with the home.
    "claude-new": Agent(claude, "/clear", agent="claude", dialogs=[("Yes, I trust this folder", ["Down", "Enter"])]),
    # It asks its user once whether to trust agentdeck's hooks, and offers a newer model.
    "codex": Agent(codex, "/clear", [("Hooks need review", ["2", "Enter"]),
                                     ("Use existing model", ["2", "Enter"])]),
    "gemini": Agent(gemini, None, (), {
        "rotated": "/clear gives another id, which gemini tells nobody: what was before comes back"}),
    "opencode": Agent(opencode, "/new", (), {
        "unknown": "agentdeck hands it no ids", "adopted": NO_IDS}),
    "copilot": Agent(copilot, None, [("Do you trust the files in this folder", ["2", "Enter"])], {
        "rotated": "/clear gives another id, which copilot tells nobody: what was before comes back"}),
    "qwen": Agent(qwen, "/clear"),
    "pi": Agent(pi, "/new", (), {
        "unknown": "agentdeck hands it no ids", "adopted": NO_IDS}),
    "cn": Agent(cn, None, (), {
        "resume": NO_HISTORY, "again": NO_HISTORY, "rotated": NO_HISTORY,
        "unknown": "agentdeck hands it no ids", "adopted": NO_IDS}, ["--config", "~/.continue/config.yaml"]),
}

ALWAYS = ["claude", "claude-new", "codex", "opencode", "qwen"]
