/** Web Push, from the event to the notification and back. */
import { phone, type Requirement, rows } from "./row.ts";

export const WEB_PUSH_ROWS: readonly Requirement[] = rows("docs/protocol.md, Web Push", {
  "push-rings": phone(
    "A question, an open dialog, a turn's end and a note ring the phones; nothing else does.",
  ),
  "push-phones": phone("Every subscribed phone of the account is rung."),
  "push-textless": phone("A text that is not sealed is never sent by Web Push."),
  "push-sealed": phone("A sealed text is sent with the key of that phone only; a long one is fetched."),
  "push-vapid": phone("A message is encrypted for the browser and signed with the relay's own key."),
  "push-preferences": phone("A phone switches kinds off, for all sessions or for one."),
  "push-quiet": phone("A phone does not ring in its quiet hours, by its own time zone."),
  "push-in-view": phone("A push that is on the phone's screen does not ring that phone."),
  "push-withdrawn": phone("A question that was closed does not ring, and its notification is taken away."),
  "push-dead": phone("A subscription that the vendor answers with 400, 403, 404 or 410 is removed."),
  "push-contact": phone(
    "Push services are given the operator's contact: --web-push-contact, or else the relay's https address.",
  ),
  "push-retry": phone("A busy vendor is asked again after its Retry-After, a limited number of times."),
  "push-bounded": phone("Messages that wait for vendors are bounded for each phone and each account."),
  "push-restart": phone(
    "A question whose ring a restart lost rings once the relay runs again, and only once.",
  ),
  "push-receipt": phone("A receipt holds what each phone was sent and shown, and when it was seen."),
  "push-opened": phone(
    "The service worker opens the sealed text; a session's later turn replaces the earlier one.",
  ),
  "push-tap": phone("A tap opens the session at the question, in the open page if there is one."),
  "push-switch": phone("A tap switches notifications on; signing out and switching off end them."),
  "push-why-not": phone("A browser without push says why, and what to do."),
  "push-outlet": phone(
    "A question that is unseen after a time of the owner's choice goes to an ntfy topic or a webhook, without its text.",
  ),
  "push-subagent": phone("The end of a subagent does not ring."),
  "push-test": phone("A test message is answered with the vendor's answer and its time."),
  "push-ssrf": phone("The relay posts to public https addresses only, also when a name resolves to another."),
});
