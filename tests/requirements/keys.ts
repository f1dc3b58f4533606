/** What security.md promises of keys and their roles, and of floods. */
import { main, type Requirement, rows } from "./row.ts";

const ROLES = rows("security, keys and roles", {
  "role-owner": main(
    "A device id belongs to the first key that says hello with it; another gets device_taken.",
  ),
  "role-release": main("Someone with admin releases a device id; the next key that says hello owns it."),
  "role-speaks-for": main(
    "Receipts, inventories, pane frames and waiting questions count only from the owner of their device.",
  ),
  "role-phone-key": main("A key that pairing minted is a phone's, for its own device, and mints nothing."),
  "role-listener-key": main("A key made for a listener connects as that listener and as scripts beside it."),
  "role-script-key": main("A script's key connects as scripts of its own, and mints nothing."),
  "role-cascade": main(
    "Revoking a key or a device revokes what came from it, and closes its sockets at once.",
  ),
  "role-up-key": main("svc up has a listener's key without admin, and revokes by the store on its machine."),
  "role-identity": main(
    "The host's identity is bound to its id: a second home is refused while the first is connected.",
  ),
  "role-device-name": main(
    "deviceName in the configuration tells hosts of one name apart, and the refusal names it.",
  ),
  "role-walk": main(
    "Who may what, by route and event and kind of key, is a generated table that a test holds.",
  ),
  "role-upgrade": main(
    "Keys, phones and hosts of the version before go on; what changes is said with what to do.",
  ),
});

const FLOODS = rows("security, whoever floods, pays", {
  "flood-unread-answers": main(
    "Answers are made as fast as they are read, one a connection, bounded by address.",
  ),
  "flood-open": main("What needs no key is bounded in bytes by address."),
  "flood-keys": main("Keystroke floods close their sender's socket, never the listener's."),
  "flood-frames": main("Each kind of frame has a rate for each socket."),
  "flood-inventories": main("Inventories are bounded in number and bytes; their sender's socket closes."),
  "flood-stored": main("A key stores so many bytes a day; over it 429 with Retry-After."),
  "flood-devices": main("A key owns so many devices; over it its socket closes, and others join on."),
  "flood-pairings": main("A key has so many open pairing codes; over it 429 with Retry-After."),
  "flood-pages": main("Pages of the history are bounded in bytes, and so is what a key reads of them."),
  "flood-unread": main(
    "The sockets of a key leave so many bytes unread together, then those that do not read close.",
  ),
  "flood-metrics-host": main(
    "/metrics answers without a key to this machine, under the host's own names only.",
  ),
  "flood-unseen": main(
    "No table of the CLI prints marks of direction or characters without width as they are.",
  ),
  "flood-proxy": main("Callers that a trusted proxy names count in its place."),
});

export const KEYS_ROWS: readonly Requirement[] = [...ROLES, ...FLOODS];
