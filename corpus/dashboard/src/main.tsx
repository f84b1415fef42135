import { createRoot } from "react-dom/client";
import { App } from "./components/App.tsx";
import "./styles/dashboard.css";

const root = document.querySelector("#root");
if (root === null) throw new Error("no #root in the page");
createRoot(root).render(<App endpoint="/api" />);
