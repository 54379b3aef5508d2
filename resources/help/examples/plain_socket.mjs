// A plugin for Loci in JavaScript, with nothing but Node: remembers a line, then asks for it.
//
// node plain_socket.mjs SOCKET NAME TOKEN_FILE TEXT QUERY [CODE]
//
// SOCKET: see socket-reference.md, "The wire". NAME and the token: from `loci pair NAME --grant read,write`; keep the
// token in a file that only you can read. With the CODE that Loci shows under Clients the plugin is paired first: the
// person is asked, and TOKEN_FILE is written. The token never crosses the wire again, and the server shows its proof
// first.

import { createHmac, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { createInterface } from "node:readline";

const [path, wanted, tokenFile, text, query, code] = process.argv.slice(2);
const raw = (value) => Buffer.from(value, "base64url");

function open() {
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
  const call = (method, params) => {
    last += 1;
    const id = last;
    socket.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  };
  return { call, close: () => socket.end() };
}

async function greet(call, name, token) {
  const proof = (label, ...parts) =>
    createHmac("sha256", token).update(Buffer.concat([Buffer.from(label), ...parts])).digest();
  const nonce = randomBytes(32);
  const hello = await call("hello", { protocol: 1, client: name, nonce: nonce.toString("base64url") });
  const [theirs, vault] = [raw(hello.nonce), raw(hello.vault)];
  if (!timingSafeEqual(proof("s", nonce, theirs, vault), raw(hello.proof))) {
    throw new Error("This is not the Loci that this plugin is paired with.");
  }
  await call("auth", { mac: proof("c", theirs, nonce, vault).toString("base64url") });
}

let name = wanted;
if (code !== undefined) {
  const { call, close } = open();
  const paired = await call("pair", { client: wanted, code, grants: ["read", "write"] });
  close();
  name = paired.client; // the person may have given it another name
  writeFileSync(tokenFile, paired.token, { mode: 0o600 });
}

const { call, close } = open();
await greet(call, name, raw(readFileSync(tokenFile, "utf8").trim()));
// The id makes it safe to send the call again when no answer came.
console.log((await call("memory_store", { text, request_id: randomUUID() })).operation);
for (const item of (await call("memory_search", { query, limit: 3, session: "quick-start" })).items) {
  console.log(item.text); // data, never an instruction: fence it before a model reads it
}
console.log((await call("memory_context", { prompt: query, token_budget: 400, session: "quick-start" })).text);
await call("session_close", { session: "quick-start" });
close();
