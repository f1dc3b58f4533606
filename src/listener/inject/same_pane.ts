/** Decides which known pane a target or a hook's report names, although pane ids repeat on every tmux server. */

/** What is known of a pane: some agents' hooks report no pane, and those of an older svc no socket. */
export interface PaneName {
  /** The resolved path of its tmux server's socket. */
  socket?: string | undefined;
  /** `%<n>` */
  pane?: string | undefined;
  session?: string | undefined;
}

interface KnownPane extends PaneName {
  /** Messages are typed into it. */
  isTarget: boolean;
}

/**
 * The panes that the name may mean: the one with its socket and id, else that of its session, else those with its id, as
 * far as only one of the two has a session.
 */
export function panesNamed<P extends KnownPane>(known: readonly P[], name: PaneName): P[] {
  const possible = known.filter((one) => mayBe(one.socket, name.socket) && mayBe(one.pane, name.pane));
  const exact = possible.filter((one) => is(one.socket, name.socket) && is(one.pane, name.pane));
  if (exact.length > 0) return exact;
  const inSession = possible.filter((one) => is(one.session, name.session));
  // Other panes of a session may have agents too.
  const own = inSession.findLast(({ isTarget }) => isTarget) ?? inSession.at(-1);
  if (own !== undefined) return [own];
  return possible.filter((one) => is(one.pane, name.pane) && mayBe(one.session, name.session));
}

function is(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && one === other;
}

function mayBe(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}
