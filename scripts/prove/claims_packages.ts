/** Claims about how svc is installed: each way from an empty folder, on each runtime. */
import type { Claim } from "./claims.ts";

const INSTALLED = "tests/packages/installed_test.ts";

export const PACKAGES: readonly Claim[] = [
  {
    text:
      "with npm alone on Node 22 and 24: install, svc up --demo, svc cc on a real agent, a message arrives",
    tests: { files: [INSTALLED], filter: "by npm" },
    count: { "Node versions": /^installed by npm on Node \d+: .* \.\.\. .*ok \(/gm },
  },
  {
    text: "the tarball and the installation, against packages that do the same job",
    task: "prove:package-sizes",
    quote: { part: /^size (.*)$/gm, as: "$1;" },
  },
  {
    text: "npm publish --dry-run without a warning; the package as packed runs every command",
    tests: { files: ["tests/contract/npm_package_test.ts"] },
  },
  {
    text: "the contract, end-to-end, phone and agents tests against the built package on Node",
    task: "test:node",
    // The sum of its suites' limits.
    limitMinutes: 400,
    quote: {
      part: /^(contract|e2e|phone|agents) +(\d+) +(\d+) +\d+ +(\d+).*$/gm,
      as: "$1 $2 passed, $3 failed, $4 files on Node;",
    },
  },
  {
    text: "the library's examples on Deno, and on Node with the built library",
    tests: { files: ["tests/e2e/examples_test.ts"] },
    count: { "on Deno": /^on Deno, .* \.\.\. .*ok \(/gm, "on Node": /^on Node, .* \.\.\. .*ok \(/gm },
  },
  {
    text:
      "a single program: svc up --demo, svc cc, and the hooks and MCP tools that the agent starts through it",
    tests: { files: [INSTALLED], filter: "single program" },
  },
  {
    text: "upgraded under load in each way: the versions printed, the hooks of an open agent work",
    tests: { files: ["tests/packages/upgrade_test.ts"] },
    quote: { part: /^upgrade (.*)$/gm, as: "$1;" },
  },
  {
    text: "cold starts of each way, in turn, and the single program's size",
    task: "prove:program-starts",
    quote: { part: /^(?:start|size) (.*)$/gm, as: "$1;" },
  },
  {
    text: "a user's systemd: the service installed, killed, restarted, upgraded, refused and removed",
    tests: { files: ["tests/services/service_test.ts"] },
    count: { "with a real systemd": /^.*systemd.* \.\.\. .*ok \(/gm },
  },
  {
    text: "every shell example of README and docs runs; no dead link",
    task: "docs",
    count: { "examples run": /^ {2}(?:docs\/|README).* \.\.\. .*ok \(/gm },
  },
  ...(["bench", "bench:node"] as const).map((task): Claim => ({
    text: `every row of the speed table, ${task === "bench" ? "on Deno" : "on Node"}`,
    task,
    limitMinutes: 180,
    quote: { part: /^(\S.*) \(\d+ samples, .*\n.*\n.*\n {2}(.*)$/gm, as: "$1: $2;" },
  })),
];
