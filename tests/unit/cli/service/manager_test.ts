/** Service files: what ends with a service and what does not, and characters that systemd or XML would change. */
import assert from "node:assert/strict";
import {
  accountIn,
  launchdPlist,
  runStateOf,
  SERVICE_MARK,
  serviceManager,
  type ServicePlan,
  startedWords,
  systemdUnit,
} from "../../../../src/cli/service/manager.ts";

const LISTENER: ServicePlan = {
  name: "listener",
  command: ["/opt/node", "/opt/svc/cli.js", "listener", "--standby"],
  isSystem: false,
  account: undefined,
  env: { PATH: "/usr/bin:/bin" },
  data: "",
  hasLowPort: false,
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

Deno.test("a machine-wide relay gets its own account, folder and restrictions [srv-relay]", () => {
  const unit = systemdUnit(RELAY);
  for (const line of ["DynamicUser=true", "StateDirectory=svc", "ProtectSystem=strict", "PrivateTmp=true"]) {
    assert.ok(unit.includes(`\n${line}\n`), line);
  }
  const named = systemdUnit({ ...RELAY, account: "ann", data: "/srv/my relay" });
  assert.match(named, /^User=ann$/m);
  assert.match(named, /^ReadWritePaths="\/srv\/my relay"$/m);
  assert.doesNotMatch(named, /DynamicUser|StateDirectory/);
});

Deno.test("the account of a service is read back from its file, for the command that repairs it [srv-install]", () => {
  for (const write of [systemdUnit, (plan: ServicePlan) => launchdPlist(plan, "/tmp/log")]) {
    assert.equal(accountIn(write({ ...RELAY, account: "ann" })), "ann");
    assert.equal(accountIn(write(LISTENER)), undefined);
  }
});

Deno.test("a machine-wide relay gets only the capability that a port below 1024 needs, and none otherwise [srv-relay]", () => {
  assert.match(systemdUnit(RELAY), /^CapabilityBoundingSet=$/m);
  assert.doesNotMatch(systemdUnit(RELAY), /Ambient/);
  const low = systemdUnit({ ...RELAY, hasLowPort: true });
  assert.match(low, /^AmbientCapabilities=CAP_NET_BIND_SERVICE$/m);
  assert.match(low, /^CapabilityBoundingSet=CAP_NET_BIND_SERVICE$/m);
});

Deno.test("an account's name that systemd would read as an instance is escaped in the unit's name [srv-install]", () => {
  const place = {
    platform: "linux",
    home: "/home/ann",
    uid: 0,
    env: {},
    log: "/log",
    listenerLog: "/own.log",
  };
  const plan = { ...LISTENER, isSystem: true, account: "ann@example.org" };
  const { file, start } = serviceManager(plan, place);
  assert.equal(file, String.raw`/etc/systemd/system/svc-listener-ann\x40example.org.service`);
  assert.equal(start.at(-1), String.raw`svc-listener-ann\x40example.org.service`);
});

Deno.test("a changed property list is reloaded, and its process ends before the new one starts [srv-install]", () => {
  const place = {
    platform: "darwin",
    home: "/Users/ann",
    uid: 501,
    env: {},
    log: "/log",
    listenerLog: "/own.log",
  };
  const { unload, enable, restart, showLog } = serviceManager(LISTENER, place);
  assert.equal(showLog, "tail -F /own.log /log", "the service's own file has failed starts only");
  assert.deepEqual([...unload, ...enable, restart], [
    ["launchctl", "bootout", "gui/501/svc.listener"],
    ["launchctl", "bootstrap", "gui/501", "/Users/ann/Library/LaunchAgents/svc.listener.plist"],
    ["launchctl", "kickstart", "-k", "gui/501/svc.listener"],
  ]);
});

Deno.test("a service's state is parsed from the output of systemd and of launchd [srv-runs]", () => {
  const shown = (lines: string[]) => runStateOf(`${lines.join("\n")}\n`);
  const up = ["MainPID=41", "NRestarts=0", "ActiveState=active", "SubState=running"];
  assert.deepEqual(shown(up), { isActive: true, hasEnded: false, pid: 41 });
  for (const crashed of ["NRestarts=1", "SubState=auto-restart", "ActiveState=failed"]) {
    const name = crashed.slice(0, crashed.indexOf("=") + 1);
    const lines = up.map((line) => line.startsWith(name) ? crashed : line);
    assert.equal(shown(lines).hasEnded, true, crashed);
  }
  const printed = ["gui/501/svc.listener = {", "\tstate = running", "\tpid = 41", "}"];
  assert.deepEqual(shown(printed), { isActive: true, hasEnded: false, pid: 41 });
  assert.equal(shown(["gui/501/svc.listener = {", "\tstate = spawn scheduled", "}"]).isActive, false);
});

Deno.test("a command's arguments stay unchanged in a unit and in a property list [srv-command]", () => {
  const command = ["/opt/my svc", "a%b", "$HOME", 'say "hi"', "back\\slash", "<&>"];
  const unit = systemdUnit({ ...LISTENER, command });
  const line = String.raw`ExecStart="/opt/my svc" "a%%b" "$$HOME" "say \"hi\"" "back\\slash" "<&>"`;
  assert.ok(unit.includes(`\n${line}\n`), unit);
  assert.match(launchdPlist({ ...LISTENER, command }, "/log"), /<string>&lt;&amp;&gt;<\/string>/);
  assert.deepEqual(startedWords(unit), command);
  assert.deepEqual(startedWords(launchdPlist({ ...LISTENER, command }, "/log")), command);
  assert.throws(() => systemdUnit({ ...LISTENER, command: ["a\nb"] }), /"a\\nb" into a unit: it has a line/);
});

Deno.test("each account's listener has its own unit, and launchd has its own folders for services", () => {
  const place = {
    platform: "linux",
    home: "/home/ann",
    uid: 1000,
    env: {},
    log: "/log",
    listenerLog: "/own.log",
  };
  const file = (plan: ServicePlan, more = {}): string => serviceManager(plan, { ...place, ...more }).file;
  assert.equal(file(LISTENER), "/home/ann/.config/systemd/user/svc-listener.service");
  assert.equal(file(LISTENER, { env: { XDG_CONFIG_HOME: "/c" } }), "/c/systemd/user/svc-listener.service");
  const system = { ...LISTENER, isSystem: true, account: "ann" };
  assert.equal(file(system), "/etc/systemd/system/svc-listener-ann.service");
  assert.equal(file(LISTENER, { platform: "darwin" }), "/home/ann/Library/LaunchAgents/svc.listener.plist");
  assert.equal(file(RELAY, { platform: "darwin" }), "/Library/LaunchDaemons/svc.relay.plist");
  assert.ok(serviceManager(LISTENER, { ...place, platform: "darwin" }).text.includes(SERVICE_MARK));
});
