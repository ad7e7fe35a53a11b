import {
  CaptureTag,
  type Context,
  type Liquid,
  Tag,
  type TagToken,
  type TopLevelToken,
} from 'liquidjs';

/** Counts what it captures against the memory limit, before anything reads it. */
export class CountedCaptureTag extends CaptureTag {
  override *render(context: Context): Generator<unknown, void, string> {
    yield* super.render(context);
    const captured: unknown = Reflect.get(context.bottom(), this.variable);
    context.memoryLimit.use(typeof captured === 'string' ? captured.length : 0);
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
