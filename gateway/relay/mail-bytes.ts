const blockBytes = 16 * 1024;

/**
 * The bytes of a mail as they come. Small pieces are copied into blocks: a client that sends single
 * bytes, or lines that begin with a dot, would otherwise have an object for each of them.
 */
export class MailBytes {
  readonly #blocks: Buffer[] = [];
  #block = Buffer.alloc(0);
  #filled = 0;

  add(piece: Buffer): void {
    if (piece.length >= blockBytes) {
      this.#endBlock();
      this.#blocks.push(piece);
      return;
    }
    if (piece.length > this.#block.length - this.#filled) {
      this.#endBlock();
      this.#block = Buffer.allocUnsafeSlow(blockBytes);
    }
    piece.copy(this.#block, this.#filled);
    this.#filled += piece.length;
  }

  /** In one piece, after a first one. */
  behind(first: Buffer): Buffer {
    this.#endBlock();
    return Buffer.concat([first, ...this.#blocks]);
  }

  #endBlock(): void {
    if (this.#filled > 0) this.#blocks.push(this.#block.subarray(0, this.#filled));
    this.#block = Buffer.alloc(0);
    this.#filled = 0;
  }
}
