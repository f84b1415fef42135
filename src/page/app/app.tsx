/** Draws the frame of the page. It contains the search box, the current view, and the dialogs that open over both. */

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { FilePage } from "../file/file-page.tsx";
import { FolderPage } from "../file/folder-page.tsx";
import { CommitPage } from "../history/commit-page.tsx";
import { CommitsPage } from "../history/commits-page.tsx";
import { FindPage } from "../search/find-page.tsx";
import { SearchPage } from "../search/search-page.tsx";
import { createClient } from "../wire/client.ts";
import { FindFile } from "./find-file.tsx";
import { Header } from "./header.tsx";
import { Help } from "./help.tsx";
import { Home } from "./home.tsx";
import type { Address } from "../frame/address.ts";
import { useKeyboard, type Command } from "../frame/keyboard.ts";
import { PageContext, usePage, useTitle } from "../frame/page-context.ts";
import { focusMain, hasNoFocus } from "../frame/place.ts";
import { useRouter } from "../frame/router.ts";
import { SignIn } from "./sign-in.tsx";

interface AppProps {
  /** The address with which the addresses of all views begin. It ends with a slash. */
  root: string;
  service: string;
  hasHistory: boolean;
}

export function App({ root, service, hasHistory }: AppProps) {
  const router = useRouter(root);
  const [isRefused, setRefused] = useState(false);
  const [visits, setVisits] = useState(0); // as the key of Frame, makes all views load again after a sign-in
  const client = useMemo(
    () =>
      createClient({
        root,
        service,
        storage: sessionStorage,
        onRefused: () => setRefused(true),
      }),
    [root, service],
  );
  const page = useMemo(
    () => ({ client, router, service, hasHistory }),
    [client, router, service, hasHistory],
  );
  const onKey = (key: string | undefined): void => {
    client.setKey(key);
    setRefused(key === undefined);
    setVisits(visits + 1);
  };
  return (
    <PageContext.Provider value={page}>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <Frame key={visits} isRefused={isRefused} onKey={onKey} />
    </PageContext.Provider>
  );
}

function skip(event: MouseEvent): void {
  event.preventDefault(); // the link would replace the part after #, which says which lines of a file are marked
  focusMain();
}

interface FrameProps {
  isRefused: boolean;
  onKey: (key: string | undefined) => void;
}

type Dialog = "help" | "find-file";

function Frame({ isRefused, onKey }: FrameProps) {
  const [dialog, setDialog] = useState<Dialog>();
  const close = useCallback(() => setDialog(undefined), []);
  const onCommand = useCallback((command: Command) => {
    if (command === "help" || command === "find-file") setDialog(command);
  }, []);
  useKeyboard(onCommand);
  return (
    <>
      <Header onHelp={() => setDialog("help")} onSignOut={() => onKey(undefined)} />
      {isRefused ? <SignIn onKey={onKey} /> : <View />}
      {dialog === "help" && <Help onClose={close} />}
      {dialog === "find-file" && <FindFile onClose={close} />}
    </>
  );
}

function View() {
  const { address } = usePage().router;
  useFocusOnArrival(address);
  switch (address.view) {
    case "home":
      return <Home address={address} />;
    case "search":
      return <SearchPage address={address} />;
    case "find":
      return <FindPage address={address} />;
    case "file":
      return <FilePage address={address} />;
    case "folder":
      return <FolderPage address={address} />;
    case "commits":
      return <CommitsPage address={address} />;
    case "commit":
      return <CommitPage address={address} />;
    case "missing":
      return <Missing />;
  }
}

/** Moves the focus to a new view, because the control that had the focus was a part of the old view. */
function useFocusOnArrival(address: Address): void {
  const view = "path" in address ? `${address.view} ${address.path}` : address.view;
  const before = useRef(view);
  useEffect(() => {
    if (before.current !== view && hasNoFocus()) focusMain();
    before.current = view;
  }, [view]);
}

function Missing() {
  useTitle("Nothing here");
  return (
    <main id="main" class="notice">
      <h1>Nothing is at this address</h1>
      <p>
        The link may be incomplete.{" "}
        <a href={usePage().router.href({ view: "home" })}>Start a search</a>
      </p>
    </main>
  );
}
