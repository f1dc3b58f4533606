/** Which session a wrapper run gets, and the claims of wrappers that are about to attach. */
import assert from "node:assert/strict";
import { decideSession, type KnownSession } from "../../../src/wrapper/obtain_session.ts";
import { CLAIM_LIFE_MS, isClaimed, newClaim, spentClaim } from "../../../src/wrapper/tmux_server.ts";

const WISH = { project: "p", root: "/work/p", agent: "cc" };

function session(name: string, more: Partial<KnownSession> = {}): KnownSession {
  return { name, agent: "cc", root: "/work/p", attached: false, ...more };
}
const attached = (name: string): KnownSession => session(name, { attached: true });

const create = (name: string): unknown => ({ kind: "create", name });
const attach = (name: string): unknown => ({ kind: "attach", name });

interface Case {
  name: string;
  sessions: KnownSession[];
  expected: unknown;
}

const cases: Case[] = [
  { name: "no session exists: the first is created [state-none]", sessions: [], expected: create("svc-p") },
  {
    name: "the first is attached: the second is created [wrap-next, state-attached]",
    sessions: [attached("svc-p")],
    expected: create("svc-p-2"),
  },
  {
    name: "two are attached: the third is created [wrap-next]",
    sessions: [attached("svc-p"), attached("svc-p-2")],
    expected: create("svc-p-3"),
  },
  {
    name: "it is detached: it is attached again [wrap-reattach, state-detached]",
    sessions: [session("svc-p")],
    expected: attach("svc-p"),
  },
  {
    name: "the lowest detached one wins [wr-lowest]",
    sessions: [session("svc-p-10"), session("svc-p-3"), attached("svc-p")],
    expected: attach("svc-p-3"),
  },
  {
    name: "a gap in the numbers is used",
    sessions: [attached("svc-p"), attached("svc-p-3")],
    expected: create("svc-p-2"),
  },
  {
    name: "another agent's detached session is not taken [wr-lowest]",
    sessions: [session("svc-p", { agent: "codex" })],
    expected: create("svc-p-2"),
  },
  {
    name: "another agent's session is skipped for one of the same agent",
    sessions: [session("svc-p", { agent: "codex" }), session("svc-p-2")],
    expected: attach("svc-p-2"),
  },
  {
    name: "a session that no wrapper created matches by its name",
    sessions: [session("svc-p", { agent: "", root: "" })],
    expected: attach("svc-p"),
  },
  {
    name: "a directory of the same name elsewhere is another project [wrap-same-name]",
    sessions: [session("svc-p", { root: "/other/p" })],
    expected: create("svc-p-2"),
  },
  {
    name: "names that only share a prefix belong to other projects",
    sessions: [session("svc-p-x"), session("svc-pp"), session("svc-p-02")],
    expected: create("svc-p"),
  },
  {
    name: "the session of a project named p-2 is not the second of p",
    sessions: [attached("svc-p"), session("svc-p-2", { root: "/work/p-2" })],
    expected: create("svc-p-3"),
  },
];

for (const { name, sessions, expected } of cases) {
  Deno.test(`decide session: ${name}`, () => assert.deepEqual(decideSession(WISH, sessions), expected));
}

const NOW = 1_795_000_000_000;

Deno.test("a claim counts until it expires, and no two are equal", () => {
  const claim = newClaim(NOW);
  assert.notEqual(claim, newClaim(NOW));
  assert.equal(isClaimed(claim, NOW + CLAIM_LIFE_MS - 1), true);
  assert.equal(isClaimed(claim, NOW + CLAIM_LIFE_MS), false);
});

Deno.test("an empty claim, a malformed one and one from the future do not count", () => {
  for (const claim of ["", "junk", "NaN.x"]) assert.equal(isClaimed(claim, NOW), false, claim);
  assert.equal(isClaimed(newClaim(NOW + CLAIM_LIFE_MS), NOW), false);
});

Deno.test("a spent claim does not count, and equals none before it", () => {
  assert.equal(isClaimed(spentClaim(), NOW), false);
  assert.notEqual(spentClaim(), spentClaim());
});
