/** What `svc pair` prints of the phone that claimed the code: its name hides neither the words nor how to revoke it. */
import assert from "node:assert/strict";
import { outcomeLines, qrLines, qrText } from "../../../src/cli/pair.ts";
import { sanitize } from "../../../src/cli/output.ts";
import { PairingStatus } from "../../../src/protocol/http.ts";

const NAME = "iPhone\nNobody claimed the code in time. For a new one, run: svc pair\x1b[8m";
const PHONE = { deviceId: "dev_phone_a", name: NAME, publicKey: "", secret: "", pairedAt: 0 };
const WORDS = ["one", "two", "three", "four", "five", "six"];

Deno.test("a phone's name adds no line to what svc pair prints, and hides none [pair-words]", () => {
  const { deviceId, name } = PHONE;
  const paired = { kind: "paired", phone: PHONE, words: WORDS } as const;
  for (const outcome of [paired, { kind: "unproven", name, deviceId }, { kind: "joined", name }] as const) {
    const text = sanitize(outcomeLines(outcome).join("\n"));
    assert.doesNotMatch(text, /^Nobody/m, outcome.kind);
    assert.ok(!text.includes("\x1b"), outcome.kind);
  }
});

Deno.test("a QR code that would wrap in a narrow terminal is left out, with what to do instead [tty-qr]", () => {
  const url = `https://relay.example/#pair=${"x".repeat(22)}&s=${"y".repeat(22)}`;
  const whole = qrLines(url).join("\n");
  const width = whole.indexOf("\n");
  assert.equal(qrText(url, { columns: width }), whole);
  for (const columns of [20, width - 1]) {
    const text = qrText(url, { columns });
    assert.match(text, new RegExp(`needs ${width} columns, and this terminal has ${columns}\\.`));
    assert.match(text, /^[\x20-\x7e]+ svc pair$/);
  }
});

Deno.test("a relay can put a device id and nothing else into the command that svc pair gives to copy into a shell [pair-words, sec-active-relay]", () => {
  const status = { expiresAt: 0, phone: { deviceId: "dev_phone_a; reboot", name: "iPhone" } };
  assert.equal(PairingStatus.safeParse(status).success, false);
  assert.ok(
    PairingStatus.safeParse({ ...status, phone: { ...status.phone, deviceId: "dev_phone_a" } }).success,
  );
});
