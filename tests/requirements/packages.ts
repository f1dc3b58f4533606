/** How svc is installed, and what shows that each way works. */
import { packages, type Requirement, rows } from "./row.ts";

export const PACKAGE_ROWS: readonly Requirement[] = [
  ...rows("docs/packages.md, The npm package", {
    "pkg-installed": packages(
      "Each way of installing gives an svc whose demo takes a message, and whose hooks and MCP tools run in an agent.",
    ),
    "pkg-publish": packages("npm publish --dry-run has no warning, and no script runs at installation."),
    "pkg-links": packages("The package's documents link only to files in it, or to the web."),
    "pkg-repository": packages("The package names the repository that was built, never a folder."),
  }),
  ...rows("docs/packages.md, Upgrades", {
    "pkg-upgrade": packages(
      "An upgrade under load, in each way of installing: no message lost or duplicated, both versions printed, hooks of an open agent work.",
    ),
  }),
  ...rows("docs/packages.md, Deno", {
    "pkg-permissions": packages(
      "Commands that run no agent work with the permissions that the page lists, instead of all.",
    ),
  }),
  ...rows("docs/packages.md, A single program", {
    "pkg-unpack": packages(
      "A single program writes its plugin and page where agents and relay find them, under one path for all versions.",
    ),
  }),
  ...rows("docs/packages.md, The library", {
    "lib-relay": packages("startRelay runs a relay in a program, on Deno and on Node."),
    "lib-listener": packages("startListener runs a listener in a program, and refuses a second one."),
    "lib-mcp": packages("createMcpServer serves the tools in a program."),
    "lib-sealed": packages("The library seals and opens messages and streams."),
    "lib-protocol": packages("The library checks and writes frames of the wire."),
  }),
];
