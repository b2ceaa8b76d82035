/**
 * Prints the result of a command: its data in the envelope of the API, or a text for people.
 * @returns the exit code of success
 */
export function printResult(data: unknown, json: boolean, text: string): number {
  console.log(json ? JSON.stringify({ success: true, data }) : text)
  return 0
}
