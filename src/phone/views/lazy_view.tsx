/** A view whose code is loaded when it is first shown. */
import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Shows `waiting` while the code is loaded; a failure is tried again when the browser is online. */
export function lazyView<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { waiting: Waiting }: { waiting: ComponentType },
): (props: Props) => JSX.Element {
  let loaded: ComponentType<Props> | undefined;
  return (props) => {
    const [, redraw] = useState(0);
    useEffect(() => {
      if (loaded !== undefined) return;
      const update = (): void =>
        void load().then((view) => {
          loaded = view;
          redraw((count) => count + 1);
        }, () => undefined);
      update();
      addEventListener("online", update);
      return () => removeEventListener("online", update);
    }, []);
    if (loaded === undefined) return <Waiting />;
    const View: ComponentType<Props> = loaded;
    return <View {...props} />;
  };
}
