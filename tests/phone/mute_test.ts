/** Muting a project from its session and unmuting it there and in the settings, in a real browser. */
import assert from "node:assert/strict";
import { openMenu, withScene } from "./scene.ts";

Deno.test("a project is muted and unmuted in its session, and the settings list the muted ones [ux-mute]", () =>
  withScene(async (scene) => {
    const { phone, phone: { page }, listener, wire } = scene;
    const session = { name: "svc-shop", createdAt: 1_790_000_000_000 };
    listener.details = { muted: [{ directory: "/home/user/work/very-secret-client" }] };
    const sheet = await openMenu(scene, session);
    const mute = sheet.getByRole("button", { name: "Mute project", exact: true });
    await mute.click();
    const push = await listener.receivedType("project.mute");
    assert.deepEqual([push.agentSessionName, push.body], ["svc-shop", "mute 1790000000000"]);
    await sheet.getByText("Asking the host…").waitFor();
    await mute.click({ force: true });
    listener.details = {
      muted: [...listener.details.muted ?? [], { directory: "/home/user/shop", byPhone: true }],
    };
    await listener.report({ ...session, muted: true });
    listener.acknowledge(push, { outcome: "submitted" });
    const unmute = sheet.getByRole("button", { name: "Unmute project" });
    await unmute.waitFor();
    assert.ok(await unmute.evaluate((button) => button === document.activeElement), "the focus stays");
    await phone.shoot("menu-muted");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    await unmute.click();
    const refused = await listener.receivedType("project.mute", push);
    assert.equal(refused.body, "unmute 1790000000000");
    listener.acknowledge(refused, { outcome: "refused", reason: "muted_at_computer" });
    await sheet.getByText("Nothing changed. The project was muted at the computer.").waitFor();
    await sheet.getByRole("button", { name: "Close" }).click();
    await page.getByText("This project is muted: messages are refused").waitFor();

    await page.goto(`${wire.url}/#/settings`);
    const list = page.getByRole("region", { name: "Muted projects" });
    await list.getByText("Muted at the computer: svc unmute").waitFor();
    assert.equal(await list.getByRole("button").count(), 1);
    await list.getByRole("button", { name: "Unmute project /home/user/shop" }).click();
    const last = await listener.receivedType("project.mute", push, refused);
    assert.deepEqual([last.agentSessionName, last.body], [undefined, "unmute /home/user/shop"]);
    await phone.shoot("settings-muted");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    listener.details = { muted: [] };
    await listener.report(session);
    listener.acknowledge(last, { outcome: "submitted" });
    await list.getByText("None. A project is muted from the menu").waitFor();
    // The relay delivers a push repeatedly until it is acknowledged.
    const asked = listener.pushes.filter(({ type }) => type === "project.mute").map(({ id }) => id);
    assert.equal(new Set(asked).size, 3);
    assert.deepEqual([phone.strangers, phone.faults], [[], []]);
  }));

Deno.test("a mute requested without a link survives a reload and takes effect once the link is back [ux-mute, ux-outbox]", () =>
  withScene(async (scene) => {
    const { phone, phone: { page }, listener, wire, relay } = scene;
    const session = { name: "svc-shop", createdAt: 1_790_000_000_000 };
    listener.details = { muted: [] };
    await openMenu(scene, session);
    await page.getByRole("button", { name: "Mute project" }).waitFor();
    await page.evaluate(async () => void await navigator.serviceWorker.ready);
    wire.pointTo(1);
    await page.getByText("Reconnecting…").first().waitFor();
    const sheet = page.getByRole("dialog");
    await sheet.getByRole("button", { name: "Mute project" }).click();
    await sheet.getByText("Waiting for the connection").waitFor();

    await page.reload();
    await page.getByRole("button", { name: "About this session" }).click();
    await sheet.getByText("Waiting for the connection").waitFor();
    await phone.shoot("menu-mute-waiting");
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
    wire.pointTo(relay.port);
    const push = await listener.receivedType("project.mute");
    await listener.report({ ...session, muted: true });
    listener.acknowledge(push, { outcome: "submitted" });
    await sheet.getByText("This project is muted").waitFor();

    wire.pointTo(1);
    await page.getByText("Reconnecting…").first().waitFor();
    await page.reload();
    await page.getByRole("button", { name: "About this session" }).click();
    await sheet.getByText("What is muted shows here once this phone is connected").waitFor();
    assert.equal(listener.pushes.filter(({ type }) => type === "project.mute").length, 1);
  }));

Deno.test("a project that only the computer can unmute says so in its session, and an older host offers nothing [ux-mute]", () =>
  withScene(async (scene) => {
    const { phone, listener } = scene;
    const session = { name: "svc-shop", createdAt: 1_790_000_000_000 };
    const sheet = await openMenu(scene, session);
    await sheet.getByText("Folder").waitFor();
    assert.equal(await sheet.getByRole("button", { name: /ute project/ }).count(), 0);
    listener.details = { muted: [{ directory: "/home/user" }] };
    await listener.report({ ...session, muted: true });
    await sheet.getByText("svc unmute").waitFor();
    await phone.shoot("menu-muted-there");
    assert.equal(await sheet.getByRole("button", { name: /ute project/ }).count(), 0);
    assert.deepEqual([await phone.violations(), await phone.misfits()], [[], []]);
  }));
