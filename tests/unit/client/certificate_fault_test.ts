/** What is said about a relay's certificate that is not trusted. */
import assert from "node:assert/strict";
import { certificateFault, problemText, relayErrorText } from "../../../src/client/certificate_fault.ts";
import { linkProblem } from "../../../src/client/link_problem.ts";
import { RelayError } from "../../../src/client/relay_error.ts";

const CHECK = "check the network, the address, and that the relay runs (svc up or svc server)";

function unanswered(cause: Error): RelayError {
  const message = `Cannot read the sessions: no relay answers at "https://relay.example"; ${CHECK}`;
  return new RelayError(message, { code: "unreachable", cause: new TypeError("fetch failed", { cause }) });
}

/** As Node's fetch and Deno's report it. */
const onNode = (code: string): RelayError => unanswered(Object.assign(new Error("certificate"), { code }));
const onDeno = (why: string): RelayError =>
  unanswered(new Error(`client error (Connect): invalid peer certificate: ${why}`));

Deno.test("a certificate that is not trusted is named with what would help, on both runtimes [cli-error-next]", () => {
  const rows: [RelayError, RegExp][] = [
    [onNode("DEPTH_ZERO_SELF_SIGNED_CERT"), /no authority that this machine trusts.*NODE_EXTRA_CA_CERTS/],
    [onNode("UNABLE_TO_VERIFY_LEAF_SIGNATURE"), /no authority that this machine trusts/],
    [onDeno("UnknownIssuer"), /no authority that this machine trusts.*DENO_CERT/],
    [onNode("ERR_TLS_CERT_ALTNAME_INVALID"), /does not name this host/],
    [onDeno('certificate not valid for name "a"; only valid for DnsName("b")'), /does not name this host/],
    [onNode("CERT_HAS_EXPIRED"), /has expired/],
    [onDeno("certificate expired: verified at time 2"), /has expired/],
    [onDeno("Other(OtherError(CaUsedAsEndEntity))"), /basicConstraints=CA:FALSE/],
    [unanswered(new Error("Failed opening CA file: No such file")), /DENO_CERT cannot be opened/],
  ];
  for (const [error, says] of rows) {
    const text = relayErrorText(error);
    assert.match(text, /^Cannot read the sessions: the relay at "https:\/\/relay\.example" is not trusted: /);
    assert.match(text, says);
    assert.match(problemText({ ...linkProblem("unreachable"), cause: error }), says);
  }
});

Deno.test("any other failure keeps its text", () => {
  const refused = onNode("ECONNREFUSED");
  assert.equal(relayErrorText(refused), refused.message);
  assert.equal(certificateFault("text"), undefined);
  const words = "Cannot read the sessions: invalid peer certificate: Expired";
  const answered = new RelayError(words, { code: "forbidden", status: 403 });
  assert.equal(relayErrorText(answered), words);
  assert.equal(
    problemText({ ...linkProblem("handshake_failed"), cause: answered }),
    `: ${linkProblem("handshake_failed").message}`,
  );
  assert.equal(problemText(linkProblem("silent")), ": The relay has been silent for too long.");
  assert.match(
    problemText(linkProblem("device_taken")),
    /has this device id\. .*"deviceName".*svc devices release ID/,
  );
  assert.match(problemText(linkProblem("revoked")), /another "deviceName"/);
  assert.equal(problemText(undefined), "");
});
