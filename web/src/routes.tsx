import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { OpenFrame } from './frame/open-frame.tsx'
import { OwnFrame } from './frame/own-frame.tsx'
import { Broken, NotFound } from './frame/trouble.tsx'
import { accountQuery } from './queries.ts'

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  notFoundComponent: NotFound,
  errorComponent: Broken,
})

/** Around the screens for everybody. */
const open = createRoute({ getParentRoute: () => root, id: 'open', component: () => <OpenFrame /> })

/** Around the screens of those who are signed in; others sign in first and come back. */
const own = createRoute({
  getParentRoute: () => root,
  id: 'own',
  component: OwnFrame,
  beforeLoad: async ({ context, location }) => {
    const account = await context.queries.ensureQueryData(accountQuery)
    if (!account) throw redirect({ to: '/sign-in', search: { next: location.href } })
  },
})

type Search = Record<string, unknown>
type LoadScreen = () => Promise<{ Screen: () => ReactNode }>
const noSearch = () => ({})

function openScreen<const P extends string, S extends Search = {}>(
  path: P,
  load: LoadScreen,
  validateSearch: (search: Search) => S = noSearch as () => S,
) {
  return createRoute({
    getParentRoute: () => open,
    path,
    validateSearch,
    component: lazyRouteComponent(load, 'Screen'),
  })
}

function ownScreen<const P extends string, S extends Search = {}>(
  path: P,
  load: LoadScreen,
  validateSearch: (search: Search) => S = noSearch as () => S,
) {
  return createRoute({ getParentRoute: () => own, path, validateSearch, component: lazyRouteComponent(load, 'Screen') })
}

/** A line a screen: its address, its file (fetched when somebody goes there), and what may stand behind the `?`. */
const screens = root.addChildren([
  open.addChildren([
    openScreen('/', () => import('./pages/welcome.tsx')),
    openScreen('/setup', () => import('./pages/setup.tsx')),
    openScreen(
      '/sign-in',
      () => import('./pages/sign-in.tsx'),
      ({ next }): { next?: string } => ({ next: ownPath(next) }),
    ),
  ]),
  own.addChildren([
    ownScreen('/home', () => import('./pages/home.tsx')),
    ownScreen(
      '/check',
      () => import('./pages/check.tsx'),
      ({ q }): { q?: string } => ({ q: typeof q === 'string' ? q : undefined }),
    ),
    ownScreen('/tokens', () => import('./pages/tokens.tsx')),
    ownScreen('/account', () => import('./pages/account.tsx')),
  ]),
])

/** A path of this site; anything else could send somebody who signs in to a stranger's page. */
function ownPath(next: unknown): string | undefined {
  return typeof next === 'string' && /^\/(?![/\\])/.test(next) ? next : undefined
}

export function createDashboard(queries: QueryClient) {
  return createRouter({ routeTree: screens, context: { queries }, defaultPreload: 'intent', scrollRestoration: true })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createDashboard>
  }
}
