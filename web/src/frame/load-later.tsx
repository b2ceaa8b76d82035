import { lazy, Suspense, useEffect, useState, type ComponentType } from 'react'
import { loadScreen } from './load-screen.ts'

/** Milliseconds after the start: the first screen, and what it leads to, come first on a slow network. */
const LOAD_AFTER_MS = 30_000

const loads: (() => Promise<unknown>)[] = []

/**
 * A component that no screen shows at first, such as the content of a dialog. `useLoadLater` loads
 * its file, or else its first use.
 * @param Fallback shown until then, with the same properties
 */
export function loadLater<Props extends object>(
  name: string,
  load: () => Promise<ComponentType<Props>>,
  Fallback?: ComponentType<Props>,
): ComponentType<Props> {
  let Loaded: ComponentType<Props> | null = null
  const prepare = async () => (Loaded ??= await loadScreen(name, load))
  const Waiting = lazy(async () => ({ default: await prepare() }))
  loads.push(prepare)

  return function LoadedLater(props: Props) {
    // The same component until it is removed, so that it keeps its state.
    const [Content] = useState(() => Loaded ?? Waiting)
    return (
      <Suspense fallback={Fallback ? <Fallback {...props} /> : null}>
        <Content {...props} />
      </Suspense>
    )
  }
}

/**
 * Loads the files of all such components after the first screen, so that they are there when they
 * are needed, even if the service has stopped or was updated meanwhile.
 */
export function useLoadLater(): void {
  useEffect(() => {
    // What goes wrong is shown when the component is used.
    const loadAll = () => loads.forEach((load) => void load().catch(() => null))
    const timer = setTimeout(loadAll, LOAD_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
}
