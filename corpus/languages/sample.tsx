import * as React from "react";

interface Props<T> extends React.PropsWithChildren { items: T[]; render?(item: T): React.ReactNode }

export const ThemeContext = React.createContext<"dark" | "light">("light");

export function List<T extends { id: string }>({ items, render }: Props<T>) {
  const [open, setOpen] = React.useState(false);
  const toggle = () => setOpen(!open);
  return (
    <>
      {items.map((item) => <li key={item.id} onClick={toggle}>{render?.(item) ?? "—"}</li>)}
    </>
  );
}

export const Button = React.memo(function InnerButton(props: { label: string }) {
  return <button {...props}>{props.label}</button>;
});

export const Card: React.FC = ({ children }) => <div className="card">{children}</div>;

export default class App extends React.Component<Props<string>, { on: boolean }> {
  state = { on: false } satisfies { on: boolean };
  render() { return <List<{ id: string }> items={[]} />; }
}
