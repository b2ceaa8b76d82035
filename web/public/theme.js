// Runs before the first paint, so that a chosen theme never flashes in the other one.
;(() => {
  let chosen = null
  try {
    chosen = localStorage.getItem('portreeve-theme')
  } catch {
    // Storage is switched off: the system's theme it is.
  }
  const dark =
    chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
})()
