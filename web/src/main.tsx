import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api.ts'
import { accountQuery } from './queries.ts'
import { createDashboard } from './routes.tsx'
import { UiProvider } from './ui/theme/ui-provider.tsx'

const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: onUnauthenticated }),
  defaultOptions: { queries: { retry: (count, error) => count < 2 && isTemporary(error) } },
})
const router = createDashboard(queries)

/** Whether a retry may help: the service is unreachable or temporarily unavailable. */
function isTemporary(error: Error): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status === 503)
}

/**
 * Handles a session that ended elsewhere: redirects to the sign-in, and from there back to this
 * screen.
 */
function onUnauthenticated(error: Error): void {
  if (!(error instanceof ApiError) || error.status !== 401) return
  queries.setQueryData(accountQuery.queryKey, null)
  void router.invalidate()
}

createRoot(document.getElementById('app') as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <UiProvider>
        <RouterProvider router={router} />
      </UiProvider>
    </QueryClientProvider>
  </StrictMode>,
)
