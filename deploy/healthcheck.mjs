// Exits with 0 when the server on this machine is ready: `node healthcheck.mjs [URL]`. The certificate is not verified, since nothing secret is sent.
import { request } from 'node:https';

const url = process.argv[2] ?? 'https://127.0.0.1:6443/readyz';
const asked = request(url, { rejectUnauthorized: false, timeout: 4000 }, (response) => {
  response.resume();
  process.exitCode = response.statusCode === 200 ? 0 : 1;
});
asked.on('timeout', () => asked.destroy(new Error('no answer')));
asked.on('error', (error) => {
  console.error(error.message);
  process.exitCode = 1;
});
asked.end();
