// Runs before the first paint and before the scripts of the page.

// A chosen theme never flashes in the other one.
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

// Screens that need an account ask for it while their scripts load: see src/early-account.ts.
;(() => {
  const open =
    /^\/(address|network|shared\/.*|setup|sign-up|sign-in|invitation|signed-in|forgot-password|reset-password|docs\/?)?$/
  if (open.test(location.pathname)) return
  let workspace = null
  try {
    const linked = new URLSearchParams(location.search).get('workspace')
    const key = 'portreeve-workspace'
    workspace = linked ?? sessionStorage.getItem(key) ?? localStorage.getItem(key)
  } catch {
    // Without storage it is the first workspace.
  }
  const headers = workspace === null ? {} : { 'x-workspace': workspace }
  const response = fetch('/api/v1/account', { credentials: 'same-origin', headers })
  window.portreeveAccount = { workspace, response: response.catch(() => null) }
})()
