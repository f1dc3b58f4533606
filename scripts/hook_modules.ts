/** The modules that an agent's hook loads, as one file in the npm package: each file costs Node a third of a millisecond. */
import "../src/cli/hook.ts";
import "../src/agents/claude/hooks.ts";
import "../src/agents/codex/hooks.ts";
import "../src/agents/copilot/hooks.ts";
import "../src/agents/cursor/hooks.ts";
import "../src/agents/gemini/hooks.ts";
import "../src/agents/opencode/hooks.ts";
import "../src/hooks/follow_remote.ts";
import "../src/hooks/news.ts";
