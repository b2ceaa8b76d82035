/** Saves a text as a file on the user’s computer. */
export function saveCsv(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${name}.csv`
  link.click()
  // The download has its own reference by then.
  setTimeout(() => URL.revokeObjectURL(url), 1_000)
}
