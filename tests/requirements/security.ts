/** What security.md promises. */
import { agents, main, mirror, phone, type Requirement, rows } from "./row.ts";

const KEPT_OUT = rows("security, who is kept out", {
  "sec-stranger": main("A stranger gets neither upgrade nor answer without a key."),
  "sec-claim": mirror(
    "The claim of a pairing code is single-use, 128-bit, for 10 minutes, rate-limited per address.",
  ),
  "sec-leaked-key": main("A leaked key is bounded by scopes, and revoking closes its sockets at once."),
  "sec-no-shell": main("No key, leaked or not, reaches a shell."),
  "sec-command-program": main(
    "A session of no known agent takes nothing while an editor, a pager, a prompt or what leads to one is in front.",
  ),
  "sec-guard-atomic": main("tmux evaluates the guard in the same queue as the typing."),
  "sec-name-prefix": main("A crafted name cannot match another session by prefix."),
  "sec-body-literal": main("A trailing ;, a leading - and #{…} in a body arrive as text."),
  "sec-passive-relay": mirror(
    "A relay that only listens learns who, to whom and how many bytes, nothing else.",
  ),
  "sec-active-relay": mirror("A relay that swaps keys fails against paired devices."),
  "sec-replay": mirror("A repeated or late sequence is dropped and counted."),
  "sec-other-account": main("~/.svc is 0700, its files and the control socket 0600."),
  "tmux-trust": main(
    "A tmux socket is used by its resolved path, and only where no other account owns or may write what lies on it.",
  ),
  "tmux-env": main("tmux clients get a minimal environment: no key of a model or of the relay."),
  "key-at-rest": mirror("The API key lies in the browser under a key that WebCrypto does not give out."),
  "account-swap": mirror("A link never swaps the signed-in account without a question that names both."),
  "csp-clean": main("No view of the page breaks its content policy."),
  "sec-modes-mended": main("Looser modes are mended and told by svc verify."),
  "sec-csp": main("The page has a strict content policy: no third-party origin, no inline script."),
  "sec-browser-keys": mirror("The phone's keys are non-extractable in IndexedDB."),
  "sec-key-shape": main("An API key is 256 random bits with the prefix svc_, shown once."),
  "sec-key-stored": main("The relay stores keys as SHA-256 and compares in constant time."),
  "sec-logs-clean": main("Logs hold no key, body or frame."),
});

const CHANNEL = rows("security, the sealed channel", {
  "seal-suite": mirror(
    "The suite is HPKE DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, by a kept library.",
  ),
  "seal-vectors": mirror("The RFC's own vectors pass."),
  "seal-context": mirror("Each direction of each stream has its own context and a fresh receiver's key."),
  "seal-off": mirror("Without a public key frames are plain."),
  "seal-base": mirror("Base mode is secret from a passive relay."),
  "seal-psk": mirror("Psk mode is secret from an active relay and proves each side to the other."),
  "seal-floor": mirror("requireEncryption on the host sets a floor: below it the answer is sealed_required."),
  "seal-floor-message": main("A host with requireEncryption refuses plain messages as sealed_required."),
  "seal-floor-auto": main(
    "The floor is psk from the first pairing on; the config lowers it, and the refusal names the way out.",
  ),
  "pair-script": main("svc pair --script pairs a script like a phone, into a file of mode 0600."),
  "send-seals": main(
    "svc send seals: on the host with what the host has, elsewhere with a script's pairing.",
  ),
  "seal-key-length": mirror("Sealed key frames have one length, whichever key was pressed."),
  "replay-window": main(
    "A sealed message is typed once and never after it was closed: each pairing counts, and the host keeps a window.",
  ),
  "upgrade-home": main("A home and a browser of an earlier version go on, or are told what to do."),
  "seal-shown": mirror("The phone shows each session's mode by a lock and in words."),
  "seal-open-fails": mirror(
    "A frame that fails to open is dropped and counted; three in a row close the stream.",
  ),
  "seal-stored": mirror(
    "Stored messages of paired phones are sealed and bound to id, type, target and session.",
  ),
  "seal-unsealable": main("A sealed message that cannot be opened is refused as unsealable."),
  "seal-answers": agents("Answers, stop texts and notes toward a paired phone are sealed."),
  "seal-web-push": phone("What Web Push carries is sealed."),
});

const PAIRING = rows("security, pairing", {
  "pair-qr": mirror(
    "svc pair prints a QR and the same as text: base address, code, and the secret in the fragment.",
  ),
  "pair-fragment": mirror("The secret never reaches a server."),
  "pair-keys": mirror("The phone keeps its key and the secret non-extractable."),
  "pair-words": mirror("Both sides show the same six words."),
  "pair-devices": mirror("svc devices lists and revokes."),
});

export const SECURITY_ROWS: readonly Requirement[] = [...KEPT_OUT, ...CHANNEL, ...PAIRING];
