/** API keys, their roles, and limits on floods. */
import { main, type Requirement, rows } from "./row.ts";

const KEY_ROLES_AND_DEVICE_OWNERSHIP = rows("docs/security.md, Key roles and device ownership", {
  "role-owner": main(
    "A device id belongs to the first key that says hello with it; another key gets device_taken.",
  ),
  "role-release": main(
    "A key with admin can release a device id; the next key that says hello with it owns it.",
  ),
  "role-speaks-for": main(
    "Receipts, inventories, pane frames and waiting questions count only from the owner of their device.",
  ),
  "role-phone-key": main(
    "A key that pairing minted is a phone's, works for its own device only, and mints nothing.",
  ),
  "role-listener-key": main("A listener's key connects as that listener, and also as scripts."),
  "role-script-key": main("A script's key connects only as its own scripts, and mints nothing."),
  "role-cascade": main(
    "Revoking a key or a device revokes what was minted by it, and closes its sockets at once.",
  ),
  "role-up-key": main(
    "svc up uses a listener's key without admin, and revokes through the store on its own machine.",
  ),
  "role-identity": main(
    "The host's identity is bound to its id: a second home is refused while the first is connected.",
  ),
  "role-device-name": main(
    "deviceName in the configuration distinguishes hosts of the same name, and the refusal names it.",
  ),
  "role-hostname": main(
    "svc up keeps the name with which a host joined, so that another hostname makes no other host.",
  ),
  "role-upgrade": main(
    "Keys, phones and hosts of the previous version keep working; what changes is reported with what to do.",
  ),
});

const PERMISSIONS = rows("docs/security.md, Permissions by kind of key", {
  "role-walk": main(
    "A generated table says which kind of key may use which route and event, and a test compares it with the relay.",
  ),
});

const FLOOD_LIMITS = rows("docs/security.md, Flood limits", {
  "flood-unread-answers": main(
    "Answers are made as fast as they are read, one at a time per connection, bounded per address.",
  ),
  "flood-open": main("Answers that need no key are limited in bytes per address."),
  "flood-keys": main("A flood of keystrokes closes its sender's socket, never the listener's."),
  "flood-frames": main(
    "Each kind of frame has a rate limit per key, over all its sockets and reconnects, and so have their bytes.",
  ),
  "flood-table": main("A caller under many names or addresses does not get a used-up budget back."),
  "flood-streams": main("The mirrors that one key may have open are bounded, so that others can open one."),
  "flood-panes": main(
    "A listener that sends more than a phone reads loses the stream; the phone stays connected.",
  ),
  "flood-inventories": main(
    "Inventories are bounded in number and bytes; over it their sender's socket closes.",
  ),
  "flood-stored": main(
    "A key can store a limited number of bytes a day, over restarts of the relay; over it 429 with Retry-After.",
  ),
  "flood-unfinished": main(
    "The sockets of a key together can begin a limited number of bytes of messages that they do not complete; over it they close.",
  ),
  "flood-devices": main(
    "A key can own a limited number of devices; over it its socket closes, and others can still join.",
  ),
  "flood-pairings": main(
    "A key can have a limited number of open pairing codes; over it 429 with Retry-After. Of its claimed ones the newest are kept.",
  ),
  "flood-pages": main("Pages of the history are bounded in bytes, and so is how much of them a key reads."),
  "flood-unread": main(
    "The sockets of a key together can leave a limited number of bytes unread; over it the ones that do not read close.",
  ),
  "flood-metrics-host": main(
    "Without a key /metrics answers only this machine, and only as localhost, by a loopback address, or under the name in --public-url if the relay serves https itself.",
  ),
  "flood-unseen": main("No table of the CLI prints direction marks or zero-width characters as they are."),
  "flood-proxy": main("Callers behind a trusted proxy are counted by the address that the proxy reports."),
});

export const KEYS_ROWS: readonly Requirement[] = [
  ...KEY_ROLES_AND_DEVICE_OWNERSHIP,
  ...PERMISSIONS,
  ...FLOOD_LIMITS,
];
