import { type Html, html } from '#lib/html/template.ts';
import type { StateWords } from './words.ts';

export const badge = ({ text, tone }: StateWords): Html =>
  html`<span class="badge ${tone}">${text}</span>`;
