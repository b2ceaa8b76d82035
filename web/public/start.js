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

// Screens that need an account ask for it while their scripts load, and the first page for its
// contents: see src/early-responses.ts.
;(() => {
  // This file is directly below the path of the service.
  const base = new URL('.', document.currentScript.src).pathname.slice(0, -1)
  const path = location.pathname.slice(base.length) || '/'
  const open =
    /^\/(address|network|shared\/.*|shared-mail-tests\/.*|shared-webhook-requests\/.*|setup|sign-up|sign-in|invitation|signed-in|forgot-password|reset-password|docs\/?)?$/
  // The guide needs none, and may be on a server without an API.
  if ('guide' in document.documentElement.dataset || open.test(path)) return
  let workspace = null
  try {
    const linked = new URLSearchParams(location.search).get('workspace')
    const key = `portreeve-workspace${base}`
    workspace = linked ?? sessionStorage.getItem(key) ?? localStorage.getItem(key)
  } catch {
    // Without storage it is the first workspace.
  }
  const headers = workspace === null ? {} : { 'x-workspace': workspace }
  const send = (route) =>
    fetch(base + route, { credentials: 'same-origin', headers }).catch(() => null)
  window.portreeveEarly = { workspace, account: send('/api/v1/account') }
  if (path === '/home') window.portreeveEarly.overview = send('/api/v1/overview')
})()
