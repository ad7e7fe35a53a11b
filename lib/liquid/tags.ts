import {
  CaptureTag,
  type Context,
  type Liquid,
  Tag,
  type TagToken,
  type TopLevelToken,
} from 'liquidjs';
import { CapturingEmitter } from './output.ts';

/**
 * Counts what it captures against the memory limit, before anything reads it. In HTML it keeps the
 * values as Liquid sees them, beside the markup around them.
 */
export class CountedCaptureTag extends CaptureTag {
  override *render(context: Context): Generator<unknown, void, string> {
    const { renderer, options } = this.liquid;
    const isHtml = options.outputEscape !== undefined;
    const emitter = isHtml ? new CapturingEmitter() : undefined;
    const text = yield renderer.renderTemplates(this.templates, context, emitter);
    const captured = emitter ? emitter.captured() : text;
    context.memoryLimit.use(captured.length);
    Reflect.set(context.bottom(), this.variable, captured);
  }
}

/** `{% # … %}`. The pattern of liquidjs takes minutes for a comment of 500 KB of empty lines. */
export class LinearCommentTag extends Tag {
  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid) {
    super(token, remaining, liquid);
    const [, ...further] = token.args.split('\n');
    if (further.every((line) => /^\s*(#|$)/.test(line))) return;
    throw new Error("every line of an inline comment must start with a '#' character");
  }

  override render(): void {}
}

/** Tags that read other files. There are none. */
export class NoFilesTag extends Tag {
  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid) {
    super(token, remaining, liquid);
    throw new Error(`the tag "${token.name}" needs another file, and a template has none`);
  }

  override render(): void {}
}
