import { Component, type ComponentType, h } from "preact";

/** memo renders again only when a property is another one, list by its members. */
export function memo<P extends object>(of: ComponentType<P>): ComponentType<P> {
  return class extends Component<P> {
    shouldComponentUpdate(next: P): boolean {
      const old = this.props as Record<string, unknown>;
      return Object.entries(next).some(([k, v]) => !alike(old[k], v));
    }
    render() {
      return h(of, this.props as P);
    }
  };
}

function alike(a: unknown, b: unknown): boolean {
  return a === b || (Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((x, i) => x === b[i]));
}
