// The widget computes in workers, from a file of this site.
const { worker } = document.querySelector('altcha-widget').dataset;
globalThis.$altcha.algorithms.set('PBKDF2/SHA-256', () => new Worker(worker));
