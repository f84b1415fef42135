/** Declares imports of style sheets, which are bundled with the page, or imported as text for a shadow root. */

declare module "*.shadow.css" {
  const text: string;
  export default text;
}
declare module "*.css" {}
