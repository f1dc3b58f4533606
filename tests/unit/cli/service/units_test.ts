/** The text of services: what ends with them and what does not, and words that systemd or XML would change. */
import assert from "node:assert/strict";
import { serviceManager } from "../../../../src/cli/service/manager.ts";
import {
  launchdPlist,
  SERVICE_MARK,
  type ServicePlan,
  systemdUnit,
} from "../../../../src/cli/service/units.ts";

const LISTENER: ServicePlan = {
  name: "listener",
  command: ["/opt/node", "/opt/svc/cli.js", "listener", "--standby"],
  isSystem: false,
  account: undefined,
  env: { PATH: "/usr/bin:/bin" },
  data: "",
};
const RELAY: ServicePlan = {
  ...LISTENER,
  name: "relay",
  command: ["/opt/svc", "server", "--data", "/var/lib/svc"],
  isSystem: true,
  data: "/var/lib/svc",
};

Deno.test("stopping the listener's service ends its process only, and restricts nothing that agents inherit [srv-keep-agents]", () => {
  const unit = systemdUnit(LISTENER);
  assert.match(unit, /^KillMode=process$/m);
  assert.match(unit, /^OOMPolicy=continue$/m);
  assert.doesNotMatch(unit, /^(NoNewPrivileges|Protect\w+|Private\w+|Restrict[A-Z]\w*s|Limit\w+)=/m);
  assert.match(launchdPlist(LISTENER, "/tmp/log"), /<key>AbandonProcessGroup<\/key>\s+<true\/>/);
});

Deno.test("a relay of the machine gets an account, a folder and restrictions of its own [srv-relay]", () => {
  const unit = systemdUnit(RELAY);
  for (const line of ["DynamicUser=true", "StateDirectory=svc", "ProtectSystem=strict", "PrivateTmp=true"]) {
    assert.ok(unit.includes(`\n${line}\n`), line);
  }
  const named = systemdUnit({ ...RELAY, account: "ann", data: "/srv/my relay" });
  assert.match(named, /^User=ann$/m);
  assert.match(named, /^ReadWritePaths="\/srv\/my relay"$/m);
  assert.doesNotMatch(named, /DynamicUser|StateDirectory/);
});

Deno.test("words of a command stay as they are in a unit and in a property list [srv-command]", () => {
  const command = ["/opt/my svc", "a%b", "$HOME", 'say "hi"', "back\\slash", "<&>"];
  const unit = systemdUnit({ ...LISTENER, command });
  const line = String.raw`ExecStart="/opt/my svc" "a%%b" "$$HOME" "say \"hi\"" "back\\slash" "<&>"`;
  assert.ok(unit.includes(`\n${line}\n`), unit);
  assert.match(launchdPlist({ ...LISTENER, command }, "/log"), /<string>&lt;&amp;&gt;<\/string>/);
  assert.throws(() => systemdUnit({ ...LISTENER, command: ["a\nb"] }), /"a\\nb" into a unit: it has a line/);
});

Deno.test("each account's listener has a unit of its own, and launchd its own folders", () => {
  const place = { platform: "linux", home: "/home/ann", uid: 1000, env: {}, log: "/log" };
  const file = (plan: ServicePlan, more = {}): string => serviceManager(plan, { ...place, ...more }).file;
  assert.equal(file(LISTENER), "/home/ann/.config/systemd/user/svc-listener.service");
  assert.equal(file(LISTENER, { env: { XDG_CONFIG_HOME: "/c" } }), "/c/systemd/user/svc-listener.service");
  const system = { ...LISTENER, isSystem: true, account: "ann" };
  assert.equal(file(system), "/etc/systemd/system/svc-listener-ann.service");
  assert.equal(file(LISTENER, { platform: "darwin" }), "/home/ann/Library/LaunchAgents/svc.listener.plist");
  assert.equal(file(RELAY, { platform: "darwin" }), "/Library/LaunchDaemons/svc.relay.plist");
  assert.ok(serviceManager(LISTENER, { ...place, platform: "darwin" }).text.includes(SERVICE_MARK));
});
