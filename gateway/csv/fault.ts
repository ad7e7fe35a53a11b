/** Why a file cannot be read on. The text never repeats what is in the file. */
export class CsvFault extends Error {
  readonly line: number;

  constructor(line: number, text: string) {
    super(text);
    this.line = line;
  }
}
