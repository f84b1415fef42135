/** Starts the page. An attribute of the document contains the address of the page's root, relative to the document. */

import "./style/page.css";
import { render } from "preact";
import { App } from "./app/app.tsx";
import { startTheme } from "./frame/theme.ts";

const { root = "./", service = "Quern", history } = document.documentElement.dataset;

startTheme();
render(
  <App
    root={new URL(root, location.href).href}
    service={service}
    hasHistory={history === "true"}
  />,
  document.getElementById("page")!,
);
