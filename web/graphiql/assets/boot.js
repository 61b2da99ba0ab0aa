// Starts GraphiQL on the endpoint of the host that served it. A file of its own, so that no inline script is allowed.
const defaultQuery = `# The newest threads of the agent "support",
# each with its newest messages.
# Further back: pass nextCursor as cursor.
query NewestThreads {
  agent(id: "support") {
    threads(limit: 10) {
      items {
        id
        channel
        personId
        messageCount
        lastMessageAt
        messages(limit: 10) {
          items {
            role
            text
            createdAt
          }
          nextCursor
          hasMore
        }
      }
      nextCursor
      hasMore
    }
  }
}
`;

const fetcher = GraphiQL.createFetcher({ url: "/graphql" });
ReactDOM.createRoot(document.getElementById("graphiql")).render(
  React.createElement(GraphiQL, { fetcher, defaultQuery, defaultEditorToolsVisibility: true }),
);
