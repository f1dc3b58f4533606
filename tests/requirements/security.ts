/** Access control, the sealed channel and pairing. */
import { agents, main, mirror, phone, type Requirement, rows } from "./row.ts";

const THREATS_AND_DEFENSES = rows("SECURITY.md, Threats and defenses", {
  "sec-stranger": main("Without a key there is neither an upgrade nor an answer."),
  "claim-again": phone(
    "A claim whose answer was lost is answered again while the code lives, to the same key with the same proof only.",
  ),
  "sec-claim": mirror(
    "A pairing code has 128 bits, works once, for 10 minutes, and claims are rate-limited per address.",
  ),
  "sec-leaked-key": main(
    "A leaked key is limited by its scopes, and revoking it closes its sockets at once.",
  ),
  "sec-no-shell": main("No key, leaked or not, reaches a shell."),
  "sec-guard-atomic": main("tmux evaluates the guard in the same queue as the typing."),
  "sec-name-prefix": main("A crafted name cannot match another session by prefix."),
  "sec-body-literal": main("A trailing ;, a leading - and #{…} in a body arrive as text."),
  "sec-passive-relay": mirror(
    "A relay that only listens learns who talks to whom and how many bytes, and nothing else.",
  ),
  "sec-active-relay": mirror("A relay that swaps keys fails against paired devices."),
  "sec-replay": mirror("A repeated or late sequence is dropped and counted."),
});

const WHAT_A_PHONE_MAY_DO = rows("docs/specification.md, What a phone may do", {
  "sec-command-program": main(
    "A session of no known agent gets nothing while an editor, a pager, a prompt or a program that leads to one is in front.",
  ),
});

const WHAT_A_HOSTILE_RELAY_CAN_DO = rows("docs/security.md, What a hostile relay can do", {
  "sec-keys-late": mirror("Keys that were held back on their way for more than a minute are not typed."),
  "sec-search": main(
    "Names of unknown sessions make the host search for tmux servers at most once a second.",
  ),
});

const FILES_FROM_A_PHONE = rows("docs/security.md, Files from a phone", {
  "up-sealed": phone(
    "Nothing of a file, not even its name, leaves the phone over a stream that is not sealed for the paired host.",
  ),
  "up-wire": phone(
    "A file's parts are bound to their place in the sealed stream; malformed data is not part of a file, and the length of the announcement does not depend on the name.",
  ),
  "up-stored": phone("A file is stored with mode 0600 in ~/.svc/uploads, which has mode 0700."),
  "up-names": phone("The host chooses a file's name, and keeps only a plain extension of the phone's."),
  "up-folder": phone("A link or a folder of another account in place of ~/.svc/uploads gets no file."),
  "up-refused": phone(
    "A file is refused with its true reason: not sealed, not allowed, too large, muted, not stored.",
  ),
  "up-damaged": phone("A file that does not arrive whole and in order is removed."),
  "up-resumed": phone(
    "After a lost stream an upload continues where the host has it, over the next stream of the same phone; a part that waits for its phone is removed after ten minutes, or when another file needs its place.",
  ),
  "up-bounds": phone("A phone that floods the host with files delays no other phone's."),
  "up-kept": phone("Files are kept for a week, and no phone's file is removed for another's."),
});

const FILES_AND_SOCKETS_ON_THE_HOST = rows("docs/security.md, Files and sockets on the host", {
  "sec-other-account": main("~/.svc is 0700, its files and the control socket 0600."),
  "sec-home-foreign": main(
    "A directory with only other files is refused as svc's folder, and keeps its modes.",
  ),
  "tmux-trust": main(
    "A tmux socket is used by its resolved path, and only where no other account owns or can write what lies on that path.",
  ),
  "tmux-folder": main(
    "Where SVC_TMUX_SOCKET names a socket in tmux's own folder, the wrapper makes that folder if it is missing.",
  ),
  "tmux-env": main("tmux clients get a minimal environment without any key of a model or of the relay."),
  "sec-modes-mended": main("The listener and svc verify correct looser modes and report them."),
});

const THE_PHONE_S_PAGE = rows("docs/security.md, The phone's page", {
  "key-at-rest": mirror(
    "The browser stores the API key encrypted under a key that WebCrypto does not export.",
  ),
  "account-swap": mirror("A link never replaces the signed-in account without a question that names both."),
  "csp-clean": main("No view of the page violates its content security policy."),
  "sec-csp": main("The page has a strict content security policy: no third-party origin, no inline script."),
});

const PAIRING = rows("docs/security.md, Pairing", {
  "sec-browser-keys": mirror("The phone's keys are non-extractable in IndexedDB."),
  "pair-script": main("svc pair --script pairs a script like a phone, into a file of mode 0600."),
  "pair-qr": mirror(
    "svc pair prints a QR code and the same as text: base address, code, and the secret in the fragment.",
  ),
  "pair-fragment": mirror("The secret never reaches a server."),
  "pair-keys": mirror("The phone keeps its key and the secret non-extractable."),
  "pair-words": mirror("Both sides show the same six words."),
  "pair-devices": mirror("svc devices lists and revokes."),
  "sec-revoke-waiting": mirror(
    "A revoked phone's messages waiting at the host are not typed, and its text that waits for Enter gets none.",
  ),
});

const KEYS = rows("docs/security.md, Keys", {
  "sec-key-shape": main("An API key is 256 random bits with the prefix svc_, shown once."),
  "sec-key-stored": main("The relay stores keys as SHA-256 and compares in constant time."),
  "sec-logs-clean": main("Logs hold no key, body or frame."),
});

const THE_SEALED_CHANNEL = rows("docs/security.md, The sealed channel", {
  "upgrade-home": main(
    "A home and a browser of an earlier version keep working, or a message says what to do.",
  ),
  "seal-suite": mirror(
    "The suite is HPKE with DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM, from a maintained library.",
  ),
  "seal-vectors": mirror("The test vectors of RFC 9180 pass."),
  "seal-context": mirror(
    "Each direction of each stream has a separate context and a fresh receiver's key.",
  ),
  "seal-off": mirror("Without a public key frames are plain."),
  "seal-base": mirror("Base mode is secret from a passive relay."),
  "seal-psk": mirror("Psk mode is secret from an active relay too and authenticates each side to the other."),
  "seal-floor": mirror("requireEncryption on the host sets a floor; below it the answer is sealed_required."),
  "seal-floor-message": main("A host with requireEncryption refuses plain messages as sealed_required."),
  "seal-floor-auto": main(
    "The floor is psk from the first pairing on; the configuration can lower it, and the refusal names the way out.",
  ),
  "send-seals": main(
    "svc send seals: on the host with the host's own secret, elsewhere with a script's pairing.",
  ),
  "seal-key-length": mirror("Sealed keystroke frames have one length, whichever key was pressed."),
  "replay-window": main(
    "A sealed message is typed once and never after it was closed: each pairing counts, and the host keeps a window.",
  ),
  "seal-shown": mirror("The phone shows each session's mode as a lock and as text."),
  "seal-open-fails": mirror(
    "A frame that fails to open is dropped and counted; three in a row close the stream.",
  ),
  "sec-not-after": mirror(
    "No sealed message is typed after the time that its sender sealed in, however long the relay lets it wait.",
  ),
  "seal-stored": mirror(
    "Stored messages of paired phones are sealed and bound to id, type, target and session.",
  ),
  "seal-unsealable": main("A sealed message that cannot be opened is refused as unsealable."),
  "seal-answers": agents("Answers, texts of ended turns and notes for a paired phone are sealed."),
  "seal-web-push": phone("The content of Web Push is sealed."),
});

export const SECURITY_ROWS: readonly Requirement[] = [
  ...THREATS_AND_DEFENSES,
  ...WHAT_A_PHONE_MAY_DO,
  ...WHAT_A_HOSTILE_RELAY_CAN_DO,
  ...FILES_FROM_A_PHONE,
  ...FILES_AND_SOCKETS_ON_THE_HOST,
  ...THE_PHONE_S_PAGE,
  ...PAIRING,
  ...KEYS,
  ...THE_SEALED_CHANNEL,
];
