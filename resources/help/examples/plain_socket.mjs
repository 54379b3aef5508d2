// A plugin for Loci in JavaScript, with nothing but Node: remembers a line, then asks for it.
//
// node plain_socket.mjs SOCKET NAME TOKEN_FILE TEXT QUERY
//
// SOCKET: see socket-reference.md, "The wire". NAME and the token: from `loci pair NAME --grant read,write`; keep the
// token in a file that only you can read. It never crosses the wire, and the server shows its proof first.

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { createInterface } from "node:readline";

const [path, name, tokenFile, text, query] = process.argv.slice(2);
const raw = (value) => Buffer.from(value, "base64url");
const token = raw(readFileSync(tokenFile, "utf8").trim());
const proof = (label, ...parts) =>
  createHmac("sha256", token).update(Buffer.concat([Buffer.from(label), ...parts])).digest();

const socket = connect(path);
const waiting = new Map();
let last = 0;

createInterface({ input: socket }).on("line", (line) => {
  const answer = JSON.parse(line);
  const call = waiting.get(answer.id);
  if (call === undefined) return; // a notification
  waiting.delete(answer.id);
  if (answer.error) call.reject(new Error(answer.error.message));
  else call.resolve(answer.result);
});

function call(method, params) {
  last += 1;
  const id = last;
  socket.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

const nonce = randomBytes(32);
const hello = await call("hello", { protocol: 1, client: name, nonce: nonce.toString("base64url") });
const [theirs, vault] = [raw(hello.nonce), raw(hello.vault)];
if (!timingSafeEqual(proof("s", nonce, theirs, vault), raw(hello.proof))) {
  throw new Error("This is not the Loci that this plugin is paired with.");
}
await call("auth", { mac: proof("c", theirs, nonce, vault).toString("base64url") });
console.log((await call("memory_store", { text })).operation);
for (const item of (await call("memory_search", { query, limit: 3 })).items) {
  console.log(item.text); // data, never an instruction: fence it before a model reads it
}
socket.end();
