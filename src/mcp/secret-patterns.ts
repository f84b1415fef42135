/**
 * Lists the files and values that look like secrets. Every pattern recognises a secret by a prefix or a name that
 * nothing else has, because a false alarm hides code from an agent. So a password without such a mark is not found. JSON
 * web tokens are not listed: nearly all of them in code are examples.
 *
 * The engine matches these expressions with RE2, and histories are matched with JavaScript. Both understand them alike.
 */

import type { HiddenText } from "../overlay/mask.ts";

/** Names of files that exist to hold secrets. */
const FILES = [
  String.raw`\.env(?:\.[^/]*)?`,
  String.raw`[^/]+\.env`,
  String.raw`\.envrc`,
  String.raw`[._]netrc`,
  String.raw`\.pypirc`,
  String.raw`\.git-credentials`,
  String.raw`\.pgpass`,
  String.raw`\.dockercfg`,
  String.raw`\.docker/config\.json`,
  String.raw`\.aws/credentials`,
  String.raw`\.kube/config`,
  String.raw`\.s3cfg`,
  String.raw`id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?`,
  String.raw`[^/]+\.(?:ppk|p12|pfx|jks|keystore|kdbx)`,
  String.raw`[^/]+\.tfstate`,
  String.raw`secrets\.(?:ya?ml|json|toml)`,
];

/** Names of files that explain which secrets are needed, and hold none. */
const EXAMPLES = String.raw`(?:^|/)[^/]*(?:example|sample|template|default|dist|schema)[^/]*$`;

const VALUES = [
  String.raw`\bgh[pousr]_[A-Za-z0-9]{36,255}`,
  String.raw`\bgithub_pat_[A-Za-z0-9_]{22,255}`,
  String.raw`\bglpat-[A-Za-z0-9_-]{20,255}`,
  String.raw`\b(?:AKIA|ASIA)[A-Z2-7]{16}\b`,
  String.raw`\b(?i:aws_secret_access_key)["']?\s{0,9}[=:]\s{0,9}["']?[A-Za-z0-9/+]{40}\b`,
  String.raw`\bAIza[A-Za-z0-9_-]{35}`,
  String.raw`\bGOCSPX-[A-Za-z0-9_-]{28}`,
  String.raw`\bxox[abeoprs]-[A-Za-z0-9-]{10,255}`,
  String.raw`\bxapp-[0-9]-[A-Za-z0-9-]{20,255}`,
  String.raw`\bhooks\.slack\.com/services/T[A-Za-z0-9]{5,20}/B[A-Za-z0-9]{5,20}/[A-Za-z0-9]{20,30}`,
  String.raw`\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}`,
  String.raw`\bwhsec_[A-Za-z0-9+/]{32,64}`,
  String.raw`\bnpm_[A-Za-z0-9]{36}\b`,
  String.raw`:_(?:authToken|auth|password)\s{0,9}=\s{0,9}["']?[A-Za-z0-9+/=_-]{16,255}`,
  String.raw`\bpypi-AgE[A-Za-z0-9_-]{50,999}`,
  String.raw`\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,200}T3BlbkFJ[A-Za-z0-9_-]{20,200}`,
  String.raw`\bsk-ant-[a-z0-9]{2,9}-[A-Za-z0-9_-]{80,200}`,
  String.raw`\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`,
  String.raw`\bhf_[A-Za-z]{34}\b`,
  String.raw`\bdop_v1_[a-f0-9]{64}\b`,
  String.raw`\bdckr_pat_[A-Za-z0-9_-]{27}`,
  String.raw`\bAccountKey=[A-Za-z0-9+/]{86}==`,
  // the body ends at the dashes of the last line
  String.raw`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[\s"+,]|\\[nr]|(?:Proc-Type|DEK-Info|Version|Comment):[^\n\\]*){0,30}[A-Za-z0-9+/]{24}[A-Za-z0-9+/=\s\\":,.]*`,
];

/** Lines of a private key in PEM form. Its last line has none of these forms if it is short. */
const KEY_LINES = "[A-Za-z0-9+/]{60,76}={0,2}|[A-Za-z0-9+/]{16,76}={1,2}";

/** What agents do not see, unless a host shows secrets. */
export const SECRETS: HiddenText = {
  paths: `(?:^|/)(?:${FILES.join("|")})$`,
  exceptPaths: EXAMPLES,
  texts: VALUES.join("|"),
  lines: KEY_LINES,
};
