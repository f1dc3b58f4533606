/** Claims about hostile input, damaged files, overload and external test suites. */
import type { Claim } from "./claims.ts";

export const HOSTILE: Claim[] = [
  {
    text:
      "each file under ~/.svc and in the relay's folder, cut at every byte or replaced by junk: the program starts, names it, loses nothing",
    tests: { files: ["tests/contract/damaged_files_test.ts", "tests/e2e/damaged_home_test.ts"] },
  },
  {
    text: "fuzzed schemas, parsers, screens, hooks and MCP input, and difficult strings in every place",
    tests: { files: ["tests/fuzz"] },
  },
  {
    text: "a good client is served despite 10,000 half-open sockets and costly input, on Deno and on Node",
    task: "prove:hostile",
    quote: { part: /^hostile (\w+ on \w+): (a POST .*)$/gm, as: "$1: $2;" },
  },
  {
    text:
      "external test suites: the Autobahn suite's cases, RFC 9457 for every refusal, RFC 8291 and 8292, RFC 9180, MCP's own client, an OpenAPI validator",
    tests: {
      files: [
        "tests/contract/websocket_test.ts",
        "tests/unit/relay/problems_test.ts",
        "tests/unit/relay/web_push_test.ts",
        "tests/unit/crypto/rfc9180_test.ts",
        "tests/contract/mcp_stdio_test.ts",
        "tests/unit/relay/operation_test.ts",
      ],
    },
  },
  {
    text:
      "at twice its capacity the relay refuses with Retry-After, keeps its sockets, serves clients that send little, and recovers",
    task: "prove:overload",
    quote: { part: /^overload (.*)$/gm, as: "$1;" },
  },
];
