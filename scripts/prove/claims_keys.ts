/** Claims about keys, roles and floods: separate programs attack a real relay and listener. */
import type { Claim } from "./claims.ts";

const FLOOD = "tests/e2e/floods_test.ts";

export const KEYS: Claim[] = [
  {
    text:
      "a key that takes a listener's name, admits others with a phone's key, or comes as a second host is refused",
    tests: {
      files: ["tests/e2e/roles_test.ts"],
      filter: "/uses a listener|cannot create keys|second host|unused id/",
    },
    quote: { part: /^attack: (.*) → ((?:\w+ ?){1,3}).*$/gm, as: "$1: $2" },
  },
  {
    text:
      "svc up's key holds no admin; a home and store of the previous version keep working, and the old key is reported",
    tests: {
      files: ["tests/e2e/roles_test.ts", "tests/unit/store/migrations_test.ts"],
      filter: "/svc up uses|version/",
    },
  },
  {
    text:
      "every route and every event with every kind of key is answered as the table in docs/security.md says",
    tests: { files: ["tests/unit/relay/access_test.ts", "tests/unit/relay/api_keys_test.ts"] },
  },
  {
    text:
      "1,000 connections that request the page's script 31 and 3 times each and read nothing stay under 300 MB",
    tests: { files: [FLOOD], filter: "read nothing" },
    quote: { part: /^unread answers, (\d+) each: (.*)$/gm, as: "$1 each: $2" },
  },
  {
    text:
      "despite 1,000 connections that read nothing, /healthz is answered sooner than by a bare server of node:http",
    task: "prove:unread",
    quote: { part: /^unread(?: (?:bare|relay))?: (.*)$/gm, as: "$1;" },
  },
  {
    text:
      "1 MB keystroke frames, and credit granted on 20 sockets, close the flooder, never the listener; another phone keeps typing",
    tests: { files: ["tests/e2e/floods_keys_test.ts"] },
    quote: { part: /^(longKeys|credits) flood: (.*)$/gm, as: "$1: $2" },
  },
  {
    text: "a key that posts, reports, joins or reads without end is refused or closed, and others are served",
    tests: {
      files: [FLOOD],
      filter: "/posts without|flood of inventories|devices of one key|twenty readers/",
    },
    quote: { part: /^(posts|inventories|devices|pages): (.*)$/gm, as: "$1: $2" },
  },
  {
    text:
      "each budget, by number: keys, frames, inventories, stored bytes, devices, codes, pages, unread bytes",
    tests: {
      files: ["tests/unit/relay/budgets_test.ts", "tests/unit/relay/api_keys_test.ts"],
      filter: "flood-",
    },
  },
  {
    text: "/metrics is read under the host's own names only; tables of the CLI hide no character",
    tests: {
      files: ["tests/unit/relay/routes_test.ts", "tests/unit/cli/output_test.ts"],
      filter: "/flood-metrics-host|flood-unseen/",
    },
  },
];
