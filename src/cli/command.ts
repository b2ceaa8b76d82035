/** One command of `portreeve`. */
export type Command = {
  name: string
  /** The whole help text, ending without a line feed. */
  usage: string
  /**
   * @param args what stands behind the command's name
   * @returns the exit code: 0 done, 1 a failed check or job, 2 wrong usage
   */
  run(args: string[]): Promise<number>
}

/** The words on the command line were wrong: the sentence and the command's usage are printed, exit code 2. */
export class UsageError extends Error {}
