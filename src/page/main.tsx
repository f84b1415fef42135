/** Starts the page. The document says where the root is, relative to its own address. */

import "./style/page.css";
import { render } from "preact";
import { App } from "./app/app.tsx";

const { root = "./", service = "Quern", history } = document.documentElement.dataset;

render(
  <App
    root={new URL(root, location.href).href}
    service={service}
    hasHistory={history === "true"}
  />,
  document.getElementById("page")!,
);
