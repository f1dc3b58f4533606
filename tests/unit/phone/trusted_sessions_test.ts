/** What of the relay's list counts, for a host that the phone is paired with. */
import assert from "node:assert/strict";
import { trustedSessions } from "../../../src/phone/trusted_sessions.ts";
import { deviceOf } from "./samples.ts";

Deno.test("a paired host has its proven name, and its sessions are called what their names say [sec-active-relay, hostile-relay]", () => {
  const device = deviceOf();
  const [entry] = device.sessions;
  assert.ok(entry);
  const named = (name: string, more: Record<string, unknown> = {}) => ({
    ...{ ...entry, name, project: "prod", agentLabel: "Claude", ordinal: 2, label: "prod · Claude #2" },
    ...more,
  });
  const told = {
    ...device,
    host: "another",
    sessions: [named("svc-prod-2"), named("svc-test"), named("mine", { agentLabel: "", label: "svc-prod" })],
  };
  const trusted = trustedSessions(told, { host: "desk" });
  assert.equal(trusted.host, "desk");
  assert.deepEqual(trusted.sessions.map(({ label }) => label), ["prod · Claude #2", "svc-test", "mine"]);
  assert.deepEqual(trustedSessions(told, undefined), told);
});
