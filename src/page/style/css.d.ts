/** Style sheets: bundled with the page, or taken as text for a shadow root. */

declare module "*.shadow.css" {
  const text: string;
  export default text;
}
declare module "*.css" {}
