/** One command of `portreeve`. */
export type CliCommand = {
  name: string
  /** The whole help text, ending without a line feed. */
  usage: string
  /**
   * @param args the arguments after the command’s name
   * @returns the exit code: 0 done, 1 a failed check or job, 2 wrong usage
   */
  run(args: string[]): Promise<number>
}

/** Invalid arguments: the message and the command’s usage are printed, with exit code 2. */
export class UsageError extends Error {}
