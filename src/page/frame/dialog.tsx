/**
 * Draws a dialog over the page. The focus stays in the dialog, and Esc closes it. After that, the control that had
 * the focus before gets it again.
 */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface DialogProps {
  label: string;
  onClose: () => void;
  children: ComponentChildren;
}

export function Dialog({ label, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = ref.current!;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  const onClick = (event: MouseEvent): void => {
    if (event.target === ref.current) onClose(); // a click on the backdrop
  };
  return (
    <dialog ref={ref} aria-label={label} onClose={onClose} onClick={onClick}>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}
